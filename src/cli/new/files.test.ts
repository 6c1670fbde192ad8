import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { projectFiles, requireEmpty, writeFiles } from "./files.ts";
import type { PackageManager } from "./package-manager.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "tsweb-new-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe("projectFiles", () => {
  const template = {
    ".gitignore": "dist/\n",
    "package.json": '{ "name": "my-app", "type": "module", "dependencies": { "tsweb": "^0.0.1", "zod": "^4.0.0" } }',
    "README.md": "# my-app\n\nmy-app, not my-apple.\n\nnpm test   # runs\n",
    "src/app.ts": "// npm test\n",
  };
  const filesFor = (name: PackageManager["name"], version: string) =>
    projectFiles(template, { name: "shop", tsweb: "file:../tsweb.tgz", manager: { name, version } });

  it("replaces the placeholder by the name", () => {
    expect(filesFor("npm", "11.0.0")["README.md"]).toBe("# shop\n\nshop, not my-apple.\n\nnpm test   # runs\n");
  });

  it("writes the commands of the package manager into texts, and into no other file", () => {
    const files = filesFor("bun", "1.4.5");
    expect(files["README.md"]).toContain("bun run test # runs\n");
    expect(files["src/app.ts"]).toBe("// npm test\n");
  });

  it("depends on the given tsweb", () => {
    expect(JSON.parse(filesFor("npm", "11.0.0")["package.json"] ?? "")).toEqual({
      name: "shop",
      type: "module",
      dependencies: { tsweb: "file:../tsweb.tgz", zod: "^4.0.0" },
    });
  });

  it("contains the configuration of Yarn if Yarn 2 or later is used", () => {
    const files = filesFor("yarn", "4.18.1");
    expect(files).toMatchObject({
      ".gitignore": "dist/\n.yarn/\n",
      ".yarnrc.yml": "nodeLinker: node-modules\n",
      "yarn.lock": "",
    });
    expect(JSON.parse(files["package.json"] ?? "").packageManager).toBe("yarn@4.18.1");
    expect(Object.keys(filesFor("yarn", "1.22.22"))).toEqual(Object.keys(filesFor("npm", "11.0.0")));
  });

  it("contains the files of a deployment and their packages if they are requested", () => {
    const deployment = {
      "nginx.conf": "upstream shop {}",
      "package.json": '{ "dependencies": { "ioredis": "^5.0.0" } }',
    };
    const options = { name: "team", tsweb: "^1.0.0", manager: { name: "npm", version: "" }, deployment } as const;
    const files = projectFiles(template, options);
    expect(files["deploy/nginx.conf"]).toBe("upstream team {}");
    expect(JSON.parse(files["package.json"] ?? "").dependencies).toEqual({
      ioredis: "^5.0.0",
      tsweb: "^1.0.0",
      zod: "^4.0.0",
    });
    expect(Object.keys(files).at(-1)).toBe("package.json");
  });

  it.each(["npm", "yarn"] as const)("lists package.json last with %s", (name) => {
    expect(Object.keys(filesFor(name, "4.0.0")).at(-1)).toBe("package.json");
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
    writeFiles(join(dir, "a", "shop"), { "src/app.ts": "app", "package.json": "{}" }, "");
    expect(readFileSync(join(dir, "a", "shop", "src", "app.ts"), "utf8")).toBe("app");
    expect(readdirSync(join(dir, "a", "shop")).sort()).toEqual(["package.json", "src"]);
  });

  it("names the file that could not be written, and what to do with the others", () => {
    writeFileSync(join(dir, "src"), "a file");
    const write = () => writeFiles(dir, { "README.md": "", "src/app.ts": "app", "package.json": "{}" }, "Delete it.");
    expect(write).toThrow(`${join(dir, "src", "app.ts")} could not be written: `);
    expect(existsSync(join(dir, "package.json"))).toBe(false);
    rmSync(join(dir, "README.md"));
    expect(write).toThrow("\nDelete it.");
  });

  it("overwrites no file", () => {
    writeFileSync(join(dir, "README.md"), "mine");
    expect(() => writeFiles(dir, { "README.md": "theirs" }, "")).toThrow("EEXIST");
    expect(readFileSync(join(dir, "README.md"), "utf8")).toBe("mine");
  });
});
