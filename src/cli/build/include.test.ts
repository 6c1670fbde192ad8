import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { copyIncluded, findIncluded, readIncludePatterns, readPackageOptions } from "./package-options.ts";

let parent: string;
let root: string;
beforeEach(() => {
  parent = realpathSync(mkdtempSync(join(tmpdir(), "tsweb-include-")));
  root = join(parent, "project (1)");
  mkdirSync(root);
});
afterEach(() => rmSync(parent, { recursive: true }));

function write(...files: string[]): void {
  for (const file of files) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), file);
  }
}

const patternsOf = (include: unknown) => {
  writeFileSync(join(root, "package.json"), JSON.stringify({ tsweb: { include } }));
  return readIncludePatterns(readPackageOptions(root));
};

describe("the patterns of include", () => {
  it("are read from package.json", () => {
    expect(readIncludePatterns(readPackageOptions(root))).toEqual([]);
    writeFileSync(join(root, "package.json"), "{}");
    expect(readIncludePatterns(readPackageOptions(root))).toEqual([]);
    expect(patternsOf(undefined)).toEqual([]);
    expect(patternsOf(["drizzle/**", "./mail/*.html"])).toEqual(["drizzle/**", "mail/*.html"]);
  });

  it.each([
    ["a text", "drizzle"],
    ["a number in it", [1]],
    ["an empty pattern", [""]],
    ["an absolute path", ["/etc/passwd"]],
    ["a drive", ["C:/x"]],
    ["a path out of the project", ["../secrets/**"]],
    ["a path that leaves the project later", ["a/../../b"]],
    ["a backslash", ["a\\b"]],
    ["a negation", ["!a"]],
    ["node_modules", ["node_modules/x/**"]],
    ["a nested node_modules", ["a/node_modules/**"]],
    [".git", [".git/**"]],
    [".env", [".env"]],
    [".env.production in a folder", ["config/.env.production"]],
    ["the folder of the browser's files", ["client/**"]],
    ["the build itself", ["dist/**"]],
    ["a file of the build", ["server.mjs"]],
  ])("with %s are refused, with the expected form", (_what, include) => {
    expect(() => patternsOf(include)).toThrow(
      /^package\.json:1:21\n.* Expected "tsweb": \{ "include": \["drizzle\/\*\*"\] \}\.$/,
    );
  });
});

describe("the files of include", () => {
  it("are those that match, and folders stand for all of their files", () => {
    write(
      "drizzle/0.sql",
      "drizzle/meta/_journal.json",
      "mail/a.html",
      "mail/a.txt",
      "src/app.ts",
      "note.md",
      "drizzle2/x",
    );
    expect(findIncluded(root, ["drizzle/**"]).files).toEqual(["drizzle/0.sql", "drizzle/meta/_journal.json"]);
    expect(findIncluded(root, ["drizzle"]).files).toEqual(["drizzle/0.sql", "drizzle/meta/_journal.json"]);
    expect(findIncluded(root, ["drizzle/"]).files).toEqual(["drizzle/0.sql", "drizzle/meta/_journal.json"]);
    expect(findIncluded(root, ["mail/*.html", "note.md"]).files).toEqual(["mail/a.html", "note.md"]);
    expect(findIncluded(root, ["**/*.sql"]).files).toEqual(["drizzle/0.sql"]);
  });

  it("never include variables, packages, the repository and earlier builds [RESPONSE-25]", () => {
    write(
      ...[
        "a.txt",
        ".env",
        ".env.local",
        "config/.env",
        "config/x.json",
        "node_modules/x/a.txt",
        "config/node_modules/a.txt",
      ],
      ...[".git/config", "dist/app.mjs", "client/a.txt", ".dist-123/a.txt"],
    );
    expect(findIncluded(root, ["**"])).toEqual({
      files: ["a.txt", "config/x.json"],
      refused: [".env", ".env.local", "config/.env"],
    });
  });

  it("must be found for each pattern", () => {
    write("config/.env");
    expect(() => findIncluded(root, ["drizle/**"])).toThrow('the pattern "drizle/**", which matches no file');
    expect(() => findIncluded(root, ["config/**"])).toThrow('the pattern "config/**", which matches no file');
  });

  it.each([
    ["out of the project", "../outside"],
    ["into node_modules", "node_modules/x"],
  ])("include no link %s [RESPONSE-26]", (_where, target) => {
    write("drizzle/0.sql", "node_modules/x/secret.txt");
    mkdirSync(join(parent, "outside"));
    writeFileSync(join(parent, "outside/secret.txt"), "secret");
    symlinkSync(join(root, target), join(root, "drizzle/linked"));
    expect(() => findIncluded(root, ["drizzle/**"])).toThrow("matches drizzle/linked, a link to");
    rmSync(join(root, "drizzle/linked"));
    symlinkSync(join(root, target, "secret.txt"), join(root, "drizzle/linked.txt"));
    expect(() => findIncluded(root, ["drizzle/**"])).toThrow("matches drizzle/linked.txt, a link to");
  });

  it("include the target of a link within the project, unless it is a file of variables, and end at a cycle", () => {
    write("shared/a.sql", "drizzle/0.sql", ".env");
    symlinkSync(join(root, "shared"), join(root, "drizzle/shared"));
    symlinkSync(join(root, "drizzle"), join(root, "drizzle/cycle"));
    symlinkSync(join(root, ".env"), join(root, "drizzle/linked.txt"));
    expect(findIncluded(root, ["drizzle/**"])).toEqual({
      files: ["drizzle/0.sql", "drizzle/shared/a.sql"],
      refused: ["drizzle/linked.txt"],
    });
  });
});

it("included files are copied to the same paths, and never over a file of the build", async () => {
  write("drizzle/0.sql", "shared/a.sql");
  symlinkSync(join(root, "shared/a.sql"), join(root, "drizzle/1.sql"));
  const outDir = join(parent, "out");
  await copyIncluded(root, ["drizzle/0.sql", "drizzle/1.sql"], outDir);
  expect(readFileSync(join(outDir, "drizzle/0.sql"), "utf8")).toBe("drizzle/0.sql");
  rmSync(join(root, "shared"), { recursive: true });
  expect(readFileSync(join(outDir, "drizzle/1.sql"), "utf8")).toBe("shared/a.sql");
  await expect(copyIncluded(root, ["drizzle/0.sql"], outDir)).rejects.toThrow();
});
