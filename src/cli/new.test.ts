import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { applicationOf, nextSteps, requireEmpty, writeAll } from "./new.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "tsweb-new-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe("an application made of the template", () => {
  const template = {
    "package.json": '{ "name": "my-app", "type": "module", "dependencies": { "tsweb": "^0.0.1", "zod": "^4.0.0" } }',
    "README.md": "# my-app\n\nmy-app, not my-apple.\n",
  };
  const files = applicationOf(template, { name: "shop", version: "1.2.3" });

  it("has its name wherever the template has a placeholder", () => {
    expect(files["README.md"]).toBe("# shop\n\nshop, not my-apple.\n");
  });

  it("asks for the tsweb that made it, or a later one that is compatible", () => {
    expect(JSON.parse(files["package.json"] ?? "")).toEqual({
      name: "shop",
      type: "module",
      dependencies: { tsweb: "^1.2.3", zod: "^4.0.0" },
    });
  });

  it("has its package.json written last", () => {
    expect(Object.keys(files)).toEqual(["README.md", "package.json"]);
  });
});

describe("a folder to make it in", () => {
  const refusal = () => requireEmpty(dir, "shop");

  it("may be empty, or not there, or a repository without files", () => {
    expect(refusal).not.toThrow();
    expect(() => requireEmpty(join(dir, "a", "b"), "a/b")).not.toThrow();
    mkdirSync(join(dir, ".git"));
    expect(refusal).not.toThrow();
  });

  it("is refused by name for whatever else is in it, hidden files too", () => {
    writeFileSync(join(dir, ".env"), "");
    expect(refusal).toThrow("shop is not empty: it holds .env. Nothing was written.");
    for (const name of ["a", "b", "c", "d"]) mkdirSync(join(dir, name));
    expect(refusal).toThrow("shop is not empty: it holds .env, a, b and 2 more. Nothing was written.");
  });

  it("is no file, and in none", () => {
    writeFileSync(join(dir, "shop"), "");
    expect(() => requireEmpty(join(dir, "shop"), "shop")).toThrow("shop is a file, or lies in one.");
    expect(() => requireEmpty(join(dir, "shop", "a"), "shop/a")).toThrow("shop/a is a file, or lies in one.");
  });
});

describe("writing it", () => {
  it("makes the folders that it takes", () => {
    writeAll(join(dir, "a", "shop"), { "src/app.ts": "app", "package.json": "{}" });
    expect(readFileSync(join(dir, "a", "shop", "src", "app.ts"), "utf8")).toBe("app");
    expect(readdirSync(join(dir, "a", "shop")).sort()).toEqual(["package.json", "src"]);
  });

  it("says which file could not be written, and that the rest is unfinished", () => {
    writeFileSync(join(dir, "src"), "a file");
    const write = () => writeAll(dir, { "README.md": "", "src/app.ts": "app", "package.json": "{}" });
    expect(write).toThrow(`${join(dir, "src", "app.ts")} could not be written: `);
    expect(existsSync(join(dir, "package.json"))).toBe(false);
    rmSync(join(dir, "README.md"));
    expect(write).toThrow(`unfinished: remove what is in ${dir}, and run tsweb new again.`);
  });

  it("overwrites nothing", () => {
    writeFileSync(join(dir, "README.md"), "mine");
    expect(() => writeAll(dir, { "README.md": "theirs" })).toThrow("EEXIST");
    expect(readFileSync(join(dir, "README.md"), "utf8")).toBe("mine");
  });
});

describe("what comes next", () => {
  it.each([
    ["shop", "cd shop"],
    ["../shop-2", "cd ../shop-2"],
    ["My Shop", "cd 'My Shop'"],
    ["Ada's $HOME", "cd 'Ada'\\''s $HOME'"],
  ])("in %s begins with %s", (path, command) => {
    expect(nextSteps(path)).toContain(`Next:\n\n  ${command}\n  npm install\n  npm run dev\n`);
  });

  it("in this folder goes nowhere else", () => {
    expect(nextSteps("")).toContain("Next:\n\n  npm install\n  npm run dev\n");
  });
});
