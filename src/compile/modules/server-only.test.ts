import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isServerModule, isServerOnly, namesServerOnly, realPath, serverOnlyFile } from "./server-only.ts";

const ROOT = "/app";

describe("isServerOnly", () => {
  const names: [path: string, expected: boolean][] = [
    // By its own name, whatever its type
    ["/app/src/db.server.ts", true],
    ["/app/src/db.server.tsx", true],
    ["/app/src/db.server.mjs", true],
    ["/app/src/db.server.json", true],
    ["/app/src/db.server.txt", true],
    ["/app/src/db.server.css", true],
    ["/app/src/db.server.svg", true],
    ["/app/src/db.server.ts.map", true],
    ["/app/src/db.server.test.ts", true],
    ["/app/src/db.server.d.ts", true],
    ["/app/src/db.server", true],
    ["/app/.server.ts", true],
    ["/app/db.v2.server.ts", true],
    // A file of environment variables
    ["/app/.env", true],
    ["/app/.env.local", true],
    ["/app/public/.ENV", true],
    ["/app/.env::$DATA", true],
    ["/app/.env?raw", true],
    ["/app/src/.env/key.txt", true],
    ["/app/src/env.ts", false],
    ["/app/src/.environment", false],
    ["/app/src/x.env", false],
    // By a folder
    ["/app/src/db.server/index.ts", true],
    ["/app/src/db.server/deep/in/it.css", true],
    ["/app/src/.server/keys.json", true],
    ["/app/src/db.server.old/index.ts", true],
    // Relative to the root
    ["src/db.server.ts", true],
    ["./src/db.server.ts", true],
    ["../shared/db.server.ts", true],
    ["../shared.server/db.ts", true],
    ["src/view.tsx", false],
    // Case, as on case-insensitive file systems
    ["/app/src/DB.SERVER.TS", true],
    ["/app/src/db.Server/index.ts", true],
    ["/app/src/db.\u017Ferver.ts", true],
    // Names that Windows and macOS open as another one
    ["C:\\app\\src\\db.server.ts", true],
    ["src\\db.server\\index.ts", true],
    ["/app/src/db.server.", true],
    ["/app/src/db.server ", true],
    ["/app/src/db.server::$DATA", true],
    ["/app/src/db.server.ts::$DATA", true],
    ["/app/src/db.se\u200Crver.ts", true],
    ["/app/src/db\uFEFF.server.ts", true],
    // Without its query and hash
    ["/app/src/db.server.ts?raw", true],
    ["/app/src/db.server.json?import&raw", true],
    ["/app/src/db.server.ts#x", true],
    ["/app/src/db.server.ts?a\nb", true],
    ["/app/src/view.tsx?from=db.server.ts", false],
    ["/app/src/sprite.svg#icon.server.red", false],
    // In another notation
    ["/app/src/./db.server.ts", true],
    ["/app/src/x/../db.server.ts", true],
    ["/app/src/db.server/../view.tsx", false],
    ["/app//src//db.server.ts", true],
    ["/app/node_modules/../src/db.server.ts", true],
    // Not server-only
    ["/app/src/view.tsx", false],
    ["/app/src/server.ts", false],
    ["/app/src/server/index.ts", false],
    ["/app/src/dbserver.ts", false],
    ["/app/src/db.servers.ts", false],
    ["/app/src/db.server-side.ts", false],
    ["/app/src/db.serverts", false],
    ["/app/src/server.json", false],
    ["/app/node_modules/x/a.server.js", false],
    ["/app/node_modules/a.server/index.js", false],
    ["C:\\app\\node_modules\\x\\a.server.ts", false],
    ["\0virtual:x", false],
  ];
  test.each(names)("of %j is %s [RESPONSE-7]", (path, expected) => {
    expect(isServerOnly(path, ROOT)).toBe(expected);
  });

  test.each([
    ["/home/me/my.server/app/src/view.tsx", "/home/me/my.server/app", false],
    ["/home/me/my.server/shared/text.ts", "/home/me/my.server/app", false],
    ["/home/me/my.server/app/src/db.server.ts", "/home/me/my.server/app", true],
    ["/home/me/app.server/src/view.tsx", "/home/me/app.server", false],
    ["src/view.tsx", "/home/me/app.server", false],
    ["C:/my.server/app/src/view.tsx", "C:/my.server/app", false],
    ["C:/my.server/app/src/db.server.ts", "C:/my.server/app", true],
    ["/src/db.server.ts", "/", true],
    ["/src/view.ts", "/", false],
  ])("of %s does not depend on the folders above the root %s: %s", (path, root, expected) => {
    expect(isServerOnly(path, root)).toBe(expected);
  });

  test("is true for every file below a server-only folder and every suffix of a server-only name", () => {
    const name = fc.stringMatching(/^[a-z][a-z0-9_-]{0,8}$/);
    const path = fc.tuple(fc.array(name, { maxLength: 3 }), name, fc.array(name, { maxLength: 3 }));
    fc.assert(
      fc.property(path, fc.boolean(), ([before, base, after], isFolder) => {
        const file = isFolder
          ? [...before, `${base}.server`, ...after, "x.ts"]
          : [...before, [base, "server", ...after].join(".")];
        expect(isServerOnly(`${ROOT}/${file.join("/")}`, ROOT)).toBe(true);
        expect(isServerOnly(`${ROOT}/${[...before, ...after, `${base}.ts`].join("/")}`, ROOT)).toBe(false);
      }),
    );
  });
});

test.each([
  ["a.server.b", true],
  ["a/b.server", true],
  ["a\\b.server\\c", true],
  ["a.serverless/b", false],
  ["", false],
])("namesServerOnly(%j) is %s", (path, expected) => {
  expect(namesServerOnly(path)).toBe(expected);
});

test.each([
  ["/app/a.server.ts", true],
  ["/app/a.server.tsx", true],
  ["/app/a.server.js", true],
  ["/app/a.server.jsx", true],
  ["/app/a.server.mts", true],
  ["/app/a.server.mjs", true],
  ["/app/A.SERVER.TS", true],
  ["/app/.server.ts", true],
  ["/app/a.server/index.ts", true],
  ["/app/a.server/deep/index.test.ts", true],
  ["/app/server.ts", false],
  ["/app/aserver.ts", false],
  ["/app/a.server.css", false],
  ["/app/a.server.json", false],
  ["/app/a.server/data.json", false],
  ["/app/a.server.ts.map", false],
  ["/app/a.server.test.ts", false],
  ["/app/node_modules/x/a.server.ts", false],
])("%s is a server module: %s", (file, expected) => {
  expect(isServerModule(file, ROOT)).toBe(expected);
});

describe("serverOnlyFile", () => {
  let root: string;
  beforeAll(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), "tsweb-server-only-")));
    mkdirSync(join(root, "secrets.server"));
    for (const name of ["db.server.ts", "plain.ts", "secrets.server/keys.json"]) writeFileSync(join(root, name), "");
    symlinkSync(join(root, "db.server.ts"), join(root, "to-server.ts"));
    symlinkSync(join(root, "plain.ts"), join(root, "link.server.ts"));
    symlinkSync(join(root, "secrets.server"), join(root, "keys"));
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  const found = (specifier: string, id: string) => {
    const file = serverOnlyFile({ specifier, importer: join(root, "view.tsx"), id: join(root, id) }, root);
    return file?.slice(root.length + 1);
  };

  test("returns the real path of a link to a server-only file", () => {
    expect(found("./to-server.ts?raw", "to-server.ts?raw")).toBe("db.server.ts");
    expect(found("./keys/keys.json", "keys/keys.json")).toBe("secrets.server/keys.json");
  });

  test("returns the link if its name is server-only, and its target is not", () => {
    expect(found("./link.server.ts", "link.server.ts")).toBe("link.server.ts");
    expect(found("./link.server.ts", "plain.ts")).toBe("link.server.ts");
    expect(found("./link.server", "plain.ts")).toBe("link.server");
    expect(serverOnlyFile({ specifier: "~/link.server.ts", id: join(root, "plain.ts") }, root)).toBe(
      "~/link.server.ts",
    );
  });

  test("returns nothing for other files, virtual modules and installed packages", () => {
    expect(found("./plain.ts", "plain.ts")).toBeUndefined();
    expect(found("./missing.ts", "missing.ts")).toBeUndefined();
    expect(found("x.server", "node_modules/x.server/index.js")).toBeUndefined();
    expect(serverOnlyFile({ specifier: "virtual:x.server.ts", id: "\0virtual:x.server.ts" }, root)).toBeUndefined();
  });

  test("realPath returns the path itself where there is no file", () => {
    expect(realPath("/no/such/file.ts")).toBe("/no/such/file.ts");
  });
});
