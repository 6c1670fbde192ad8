import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { project_path } from "./project.ts";

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "tsweb-path-")));
  mkdirSync(join(folder, "drizzle"));
  writeFileSync(join(folder, "drizzle/0.sql"), "");
  vi.spyOn(process, "cwd").mockReturnValue(folder);
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

describe("project_path", () => {
  it.each(["drizzle", "drizzle/0.sql", "./drizzle", "drizzle/", "a/../drizzle"])(
    "returns the absolute path of %s below the current folder",
    (path) => {
      expect(project_path(path)).toBe(join(folder, path));
    },
  );

  it.each([
    "",
    "/etc/passwd",
    "..",
    "../x",
    "drizzle/../../x",
    "C:/x",
    "c:x",
    "\\x",
    "drizzle\\0.sql",
    "x\0",
    undefined as unknown as string,
  ])("refuses %j, which is not below the project's folder", (path) => {
    expect(() => project_path(path)).toThrow(TypeError);
  });

  it("throws for a file that does not exist, with the path and the fix", () => {
    expect(() => project_path("migrations")).toThrow(
      `project_path("migrations"): ${join(folder, "migrations")} does not exist. Create it, or run this command in the project's folder.`,
    );
  });
});
