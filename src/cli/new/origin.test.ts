import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, posix, win32 } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fileSpecifier, findOrigin, originOf, packedTsweb, requirePackedFile } from "./origin.ts";

let dir: string;
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "tsweb-origin-")));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Creates folders with these package.json files, and returns the path of the first one's folder. */
function write(files: Readonly<Record<string, object | string>>): void {
  for (const [folder, manifest] of Object.entries(files)) {
    mkdirSync(join(dir, folder), { recursive: true });
    const text = typeof manifest === "string" ? manifest : JSON.stringify(manifest);
    writeFileSync(join(dir, folder, "package.json"), text);
  }
}

const find = (folder: string, searchFrom: string[] = []) =>
  findOrigin({ name: "tsweb", dir: join(dir, folder), searchFrom: searchFrom.map((each) => join(dir, each)) });

describe("findOrigin", () => {
  it("returns the packed file that a project has installed, relative to that project", () => {
    write({ "app/node_modules/tsweb": {}, app: { dependencies: { tsweb: "file:../tsweb-1.0.0.tgz" } } });
    expect(find("app/node_modules/tsweb")).toEqual({ kind: "file", file: join(dir, "tsweb-1.0.0.tgz") });
  });

  it("finds the project of a package in a nested folder, as pnpm stores it", () => {
    const stored = "app/node_modules/.pnpm/tsweb@file+t.tgz/node_modules/tsweb";
    write({ [stored]: {}, app: { devDependencies: { tsweb: "file:t.tgz" } } });
    expect(find(stored)).toEqual({ kind: "file", file: join(dir, "app/t.tgz") });
  });

  it("finds the project of a package in a store elsewhere, through the path of the program", () => {
    write({ "store/node_modules/tsweb": {}, app: { dependencies: { tsweb: "../t.tgz" } } });
    expect(find("store/node_modules/tsweb", ["app/node_modules/.bin"])).toEqual({
      kind: "file",
      file: join(dir, "t.tgz"),
    });
  });

  it("returns the registry for a version, and for a package that no project lists", () => {
    write({ "a/node_modules/tsweb": {}, a: { dependencies: { tsweb: "^1.0.0" } }, "b/node_modules/tsweb": {} });
    expect(find("a/node_modules/tsweb")).toEqual({ kind: "registry", isCertain: true });
    expect(find("b/node_modules/tsweb")).toEqual({ kind: "registry", isCertain: false });
  });

  it("returns the folder of a package that is not installed, although a project lists another one", () => {
    write({ clone: {}, app: { dependencies: { tsweb: "file:../t.tgz" } } });
    expect(find("clone", ["app"])).toEqual({ kind: "folder", dir: join(dir, "clone") });
  });

  it("ignores a package.json that is no JSON or no object", () => {
    write({ "app/lib/node_modules/tsweb": "{", "app/lib": "null", app: { dependencies: { tsweb: "file:t.tgz" } } });
    expect(find("app/lib/node_modules/tsweb")).toMatchObject({ kind: "file" });
  });
});

describe("originOf", () => {
  it.each(["^1.0.0", "1.0.0", "latest", "workspace:*", "catalog:", "file:../tsweb", "npm:tsweb@1"])(
    "of %s is the registry",
    (specifier) => {
      expect(originOf(specifier, "/app", posix)).toEqual({ kind: "registry", isCertain: true });
    },
  );

  it.each(["https://example.com/tsweb-1.0.0.tgz", "git+ssh://git@example.com/tsweb.git", "github:example/tsweb"])(
    "of %s is the URL",
    (specifier) => {
      expect(originOf(specifier, "/app", posix)).toEqual({ kind: "url", specifier });
    },
  );

  it("reads relative and absolute paths of every system", () => {
    const file = (specifier: string, path: typeof posix) => {
      const dir = path === win32 ? "C:\\Users\\Ada\\app" : "/home/ada/app";
      return originOf(specifier, dir, path);
    };
    expect(file("file:../t.tgz", posix)).toEqual({ kind: "file", file: "/home/ada/t.tgz" });
    expect(file("/srv/t.tar.gz", posix)).toEqual({ kind: "file", file: "/srv/t.tar.gz" });
    expect(file("file:../My Files/t.tgz", win32)).toEqual({ kind: "file", file: "C:\\Users\\Ada\\My Files\\t.tgz" });
    expect(file("file:D:/t.tgz", win32)).toEqual({ kind: "file", file: "D:\\t.tgz" });
  });
});

describe("fileSpecifier", () => {
  it("is relative to the project", () => {
    expect(fileSpecifier("/home/ada/t.tgz", "/home/ada/My Shop", posix)).toBe("file:../t.tgz");
    expect(fileSpecifier("/home/ada/shop/t.tgz", "/home/ada/shop", posix)).toBe("file:t.tgz");
  });

  it("has forward slashes on Windows, and is absolute if the file is on another drive", () => {
    expect(fileSpecifier("C:\\Users\\Ada\\t.tgz", "C:\\Users\\Ada\\a\\shop", win32)).toBe("file:../../t.tgz");
    expect(fileSpecifier("D:\\t.tgz", "C:\\shop", win32)).toBe("file:D:/t.tgz");
  });
});

describe("packedTsweb", () => {
  it("is the file itself, or beside the file of create-tsweb", () => {
    expect(packedTsweb("/a/tsweb-1.0.0.tgz", "1.0.0", posix)).toBe("/a/tsweb-1.0.0.tgz");
    expect(packedTsweb("/a/create-tsweb-1.0.0.tgz", "1.0.0", posix)).toBe("/a/tsweb-1.0.0.tgz");
    expect(packedTsweb("C:\\a\\create-tsweb-1.0.0.tgz", "1.0.0", win32)).toBe("C:\\a\\tsweb-1.0.0.tgz");
  });
});

describe("requirePackedFile", () => {
  it("rejects a file that does not exist any more, before anything is written", () => {
    const file = join(dir, "t.tgz");
    expect(() => requirePackedFile(file)).toThrow(`${file} does not exist.`);
    writeFileSync(file, "");
    expect(requirePackedFile(file)).toBe(file);
  });
});
