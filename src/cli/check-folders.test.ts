import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { folderProblems } from "./check.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tsweb-check-"));
  writeFileSync(join(folder, "file"), "");
  mkdirSync(join(folder, "exists"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const variablesOf = (env: Record<string, string>) => folderProblems(env).map(({ variable }) => variable);

describe.each(["WEB_UPLOAD_DIR", "WEB_DATA_DIR"])("folderProblems of %s", (variable) => {
  it("accepts a folder, a missing one that can be created, and no value, and creates nothing", () => {
    for (const path of ["exists", "missing", "missing/too"]) {
      expect(folderProblems({ [variable]: join(folder, path) })).toEqual([]);
    }
    expect([folderProblems({}), folderProblems({ [variable]: "" })]).toEqual([[], []]);
    expect(readdirSync(folder).sort()).toEqual(["exists", "file"]);
  });

  // Root may write everywhere, so permissions cannot be tested by every user.
  it.each([
    ["a file", () => join(folder, "file")],
    ["below a file", () => join(folder, "file/below")],
  ])("reports a path that is %s, with the reason", (_what, path) => {
    expect(folderProblems({ [variable]: path() })).toMatchObject([
      { variable, problem: expect.stringContaining(join(folder, "file")), fix: expect.stringMatching(/^Create/) },
    ]);
  });
});

it("folderProblems ignores WEB_DATA_DIR if the revocations are stored by the bus", () => {
  const path = join(folder, "file");
  const env = { WEB_DATA_DIR: path, WEB_UPLOAD_DIR: path, WEB_BUS_URL: "redis://localhost" };
  expect(variablesOf(env)).toEqual(["WEB_UPLOAD_DIR"]);
});
