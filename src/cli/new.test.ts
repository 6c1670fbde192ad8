import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { nextSteps, projectFiles, requireEmpty, writeFiles } from "./new.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "tsweb-new-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe("projectFiles", () => {
  const template = {
    "package.json": '{ "name": "my-app", "type": "module", "dependencies": { "tsweb": "^0.0.1", "zod": "^4.0.0" } }',
    "README.md": "# my-app\n\nmy-app, not my-apple.\n",
  };
  const files = projectFiles(template, { name: "shop", version: "1.2.3" });

  it("replaces the placeholder by the name", () => {
    expect(files["README.md"]).toBe("# shop\n\nshop, not my-apple.\n");
  });

  it("depends on the version of tsweb that created it, or a later compatible one", () => {
    expect(JSON.parse(files["package.json"] ?? "")).toEqual({
      name: "shop",
      type: "module",
      dependencies: { tsweb: "^1.2.3", zod: "^4.0.0" },
    });
  });

  it("lists package.json last", () => {
    expect(Object.keys(files)).toEqual(["README.md", "package.json"]);
  });
});

describe("requireEmpty", () => {
  const check = () => requireEmpty(dir, "shop");

  it("accepts an empty folder, a missing one, and a repository without files", () => {
    expect(check).not.toThrow();
    expect(() => requireEmpty(join(dir, "a", "b"), "a/b")).not.toThrow();
    mkdirSync(join(dir, ".git"));
    expect(check).not.toThrow();
  });

  it("rejects a folder with any other entry, hidden files included, and names the entries", () => {
    writeFileSync(join(dir, ".env"), "");
    expect(check).toThrow("shop is not empty: it contains .env. Nothing was written.");
    for (const name of ["a", "b", "c", "d"]) mkdirSync(join(dir, name));
    expect(check).toThrow("shop is not empty: it contains .env, a, b and 2 more. Nothing was written.");
  });

  it("rejects a file, and a folder inside a file", () => {
    writeFileSync(join(dir, "shop"), "");
    expect(() => requireEmpty(join(dir, "shop"), "shop")).toThrow("shop is a file, or is inside one.");
    expect(() => requireEmpty(join(dir, "shop", "a"), "shop/a")).toThrow("shop/a is a file, or is inside one.");
  });
});

describe("writeFiles", () => {
  it("creates missing folders", () => {
    writeFiles(join(dir, "a", "shop"), { "src/app.ts": "app", "package.json": "{}" });
    expect(readFileSync(join(dir, "a", "shop", "src", "app.ts"), "utf8")).toBe("app");
    expect(readdirSync(join(dir, "a", "shop")).sort()).toEqual(["package.json", "src"]);
  });

  it("names the file that could not be written, and reports that the project is unfinished", () => {
    writeFileSync(join(dir, "src"), "a file");
    const write = () => writeFiles(dir, { "README.md": "", "src/app.ts": "app", "package.json": "{}" });
    expect(write).toThrow(`${join(dir, "src", "app.ts")} could not be written: `);
    expect(existsSync(join(dir, "package.json"))).toBe(false);
    rmSync(join(dir, "README.md"));
    expect(write).toThrow(`unfinished: delete what is in ${dir}, and run tsweb new again.`);
  });

  it("overwrites no file", () => {
    writeFileSync(join(dir, "README.md"), "mine");
    expect(() => writeFiles(dir, { "README.md": "theirs" })).toThrow("EEXIST");
    expect(readFileSync(join(dir, "README.md"), "utf8")).toBe("mine");
  });
});

describe("nextSteps", () => {
  it.each([
    ["shop", "cd shop"],
    ["../shop-2", "cd ../shop-2"],
    ["My Shop", "cd 'My Shop'"],
    ["Ada's $HOME", "cd 'Ada'\\''s $HOME'"],
  ])("in the folder %s begin with %s", (path, command) => {
    expect(nextSteps(path)).toContain(`Next:\n\n  ${command}\n  npm install\n  npm run dev\n`);
  });

  it("in the current folder contain no cd", () => {
    expect(nextSteps("")).toContain("Next:\n\n  npm install\n  npm run dev\n");
  });
});
