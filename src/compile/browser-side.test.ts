import { describe, expect, test } from "vitest";
import { marked, memoryWorld, read, refusedWith } from "#test/marked";
import { checkBrowserSide, hasForeignQuery, isServerDoor } from "./browser-side.ts";
import { readServed } from "./served.ts";

const FILES = {
  "src/accounts.server.ts": `
    import { server, page } from "tsweb";
    export const login = server((email: string) => email);
    export const db = "secret";
    export interface User { name: string }
    export type Id = string;
    export const home = page("/", () => null);
    export class Table {}
    export { other, renamed as second } from "./other.server.ts";
    export default db;
  `,
  "src/other.server.ts": `
    import { server } from "tsweb";
    export const other = server(() => 1);
    export const renamed = server(() => 1);
  `,
  "src/all.server.ts": 'export * from "./other.server.ts";',
  "src/broken.server.ts": 'import { server } from "tsweb"; export default server(() => 1);',
  "src/shared.ts": "export const shared = 1;",
  "src/barrel.ts": 'export { login } from "./accounts.server.ts";',
};

async function check(code: string, files: Record<string, string> = FILES, app?: string) {
  const world = memoryWorld(files);
  const served = app === undefined ? undefined : () => readServed(read("src/app.ts", app), world);
  return checkBrowserSide(read("src/view.tsx", code), world, served);
}

describe("what browser code may import", () => {
  const allowed: [title: string, code: string, stubs: string[]][] = [
    ["a server function", 'import { login } from "./accounts.server.ts";', ["src/accounts.server.ts login"]],
    [
      "under another name here",
      'import { login as signIn } from "./accounts.server.ts";',
      ["src/accounts.server.ts login"],
    ],
    ["without the ending", 'import { login } from "./accounts.server";', ["src/accounts.server.ts login"]],
    ["by an alias", 'import { login } from "~/accounts.server.ts";', ["src/accounts.server.ts login"]],
    ["what a server module hands on", 'import { other } from "./accounts.server.ts";', ["src/other.server.ts other"]],
    [
      "what a server module hands on with a star",
      'import { other } from "./all.server.ts";',
      ["src/other.server.ts other"],
    ],
    ["a server function, handed on", 'export { login } from "./accounts.server.ts";', ["src/accounts.server.ts login"]],
    ["types", 'import type { User, db, Missing } from "./accounts.server.ts";', []],
    [
      "types among functions",
      'import { login, type User } from "./accounts.server.ts";',
      ["src/accounts.server.ts login"],
    ],
    ["a namespace of types", 'import type * as all from "./accounts.server.ts";', []],
    [
      "handed on types",
      'export type { User } from "./accounts.server.ts";\nexport type * from "./accounts.server.ts";',
      [],
    ],
    ["types of tsweb", 'import type { int } from "tsweb";', []],
    ["the browser's doors", 'import { view } from "tsweb/browser"; import "tsweb/islands";', []],
    [
      "other modules, in every way",
      'import * as s from "./shared.ts"; import "./shared.ts"; import("./shared.ts"); export * from "./shared.ts"; new URL("./shared.ts", import.meta.url);',
      [],
    ],
    ["packages", 'import { h } from "preact";', []],
    ["types of Node", 'import type { Buffer } from "node:buffer";', []],
    ["the type of a whole server module", 'type A = typeof import("./accounts.server.ts");', []],
    ["a module that is told about elsewhere", 'import { f } from "./broken.server.ts";', []],
  ];
  test.each(allowed)("%s", async (_title, code, stubs) => {
    const side = await check(code);
    expect(side.stubs.map(({ file, name }) => `${file} ${name}`)).toEqual(stubs);
    expect(side.compiled).toBeUndefined();
  });

  test.each([
    ['import { type int } from "tsweb";\nconst a: int = 1;', "\nconst a: int = 1;"],
    ['import { type User, type Id } from "./accounts.server.ts";', ""],
    ['export { type User } from "./accounts.server.ts";', ""],
  ])("%s leaves nothing to import", async (code, expected) => {
    const side = await check(code);
    expect(side.compiled?.code).toBe(expected);
    expect(side.stubs).toEqual([]);
  });

  test("says who imports a stub", async () => {
    expect((await check('import { login } from "./accounts.server.ts";')).stubs).toEqual([
      { file: "src/accounts.server.ts", name: "login", importer: "src/view.tsx" },
    ]);
  });
});

describe("what browser code may not import", () => {
  const refused: [code: string, message: RegExp][] = [
    [
      'import { «db } from "./accounts.server.ts";',
      /^"db" of src\/accounts\.server\.ts is not a server function, and nothing else/,
    ],
    [
      'import {\n  login,\n  «db as x,\n} from "./accounts.server.ts";',
      /^"db" of src\/accounts\.server\.ts is not a server function/,
    ],
    ['import { «Table } from "./accounts.server";', /^"Table" of src\/accounts\.server\.ts is not a server function/],
    ['import { «User } from "./accounts.server.ts";', /^"User" is a type: write `import type \{ User \}`\.$/],
    ['import { «Id } from "~/accounts.server.ts";', /^"Id" is a type/],
    [
      'import { «home } from "./accounts.server.ts";',
      /^"home" is a page of src\/accounts\.server\.ts, which runs on the server alone: link/,
    ],
    [
      'import { «missing } from "./accounts.server.ts";',
      /^src\/accounts\.server\.ts exports no server function "missing"\.$/,
    ],
    ['import { «second } from "./accounts.server.ts";', /^"second" is "renamed" under another name/],
    ['import «* as all from "./accounts.server.ts";', /of which the browser has its server functions alone: name them/],
    ['import «db from "./accounts.server.ts";', /a server function has a name/],
    ['import { «default as db } from "./accounts.server.ts";', /a server function has a name/],
    ['import { login, «db } from "./accounts.server.ts";', /"db"/],
    ['«import "./accounts.server.ts";', /never runs in the browser: remove this import/],
    ['«import {} from "./accounts.server.ts";', /never runs in the browser/],
    ['export { «db } from "./accounts.server.ts";', /"db" of src\/accounts\.server\.ts is not a server function/],
    ['export { «db as login } from "./accounts.server.ts";', /"db"/],
    ['export * from «"./accounts.server.ts";', /name them, `export \{ name \} from …`/],
    ['export * as all from «"./accounts.server.ts";', /name them, `export \{ name \} from …`/],
    ['const a = () => import(«"./accounts.server.ts");', /which loads nothing of it/],
    ["const a = () => import(«`./accounts.server`);", /which loads nothing of it/],
    ['const a = require(«"./accounts.server.ts");', /import them by name/],
    ['import a = require(«"./accounts.server.ts");', /import them by name/],
    ['new Worker(new URL(«"./accounts.server.ts", import.meta.url));', /has no address in the browser/],
    ['new URL(«"accounts.server.ts", import.meta.url);', /has no address in the browser/],
    ['new URL(«"/src/accounts.server.ts", import.meta.url);', /has no address in the browser/],
    ['import text from «"./accounts.server.ts?raw";', /text stays on the server: it cannot be asked for with "\?raw"/],
    ['import text from «"./accounts.server.ts?url";', /"\?url"/],
    ['import text from «"./accounts.server?worker&inline";', /"\?worker&inline"/],
    ['import { login } from «"./accounts.server.ts?anything";', /"\?anything"/],
    ['import { server } from «"tsweb";', /^"tsweb" is the server's side of tsweb/],
    ['import x from «"tsweb";', /server's side/],
    ['import { hash_password } from «"tsweb/auth";', /"tsweb\/auth" is the server's side/],
    ['import «"tsweb/node";', /"tsweb\/node" is the server's side/],
    ['import «"tsweb/register";', /server's side/],
    ['import «"tsweb/vite";', /server's side/],
    ['export { App } from «"tsweb";', /server's side/],
    ['export * from «"tsweb";', /server's side/],
    ['import(«"tsweb");', /server's side/],
    ['import { type int, App } from «"tsweb";', /server's side/],
    ['import { readFile } from «"node:fs";', /^"node:fs" is a module of Node/],
    ['import { readFile } from «"node:fs/promises";', /is a module of Node/],
    ['import fs from «"fs";', /^"fs" is a module of Node/],
    ['import { createHash } from «"crypto";', /is a module of Node/],
    ['import(«"node:crypto");', /is a module of Node/],
  ];
  test.each(refused)("%s", async (text, message) => {
    const error = await refusedWith(() => check(text));
    expect(error.message).toMatch(message);
    expect(error.loc).toEqual({ file: "/app/src/view.tsx", ...marked(text).place });
    expect(error.frame).toContain("^");
  });
});

describe("what the application does not serve", () => {
  const app = (modules: string) =>
    `import { App } from "tsweb";\nimport * as accounts from "./accounts.server.ts";\nimport * as other from "./other.server.ts";\nexport default new App({ modules: ${modules} });`;

  test("is refused where it is imported", async () => {
    const text = 'import { login } from "./accounts.server.ts";\nimport { «renamed } from "./other.server.ts";';
    const error = await refusedWith(() => check(text, FILES, app("[accounts]")));
    expect(error.message).toBe(
      '"renamed" is a server function of src/other.server.ts, which the application does not serve: add that module to `modules` in src/app.ts.',
    );
    expect(error.loc).toMatchObject(marked(text).place ?? {});
  });

  test("is not what a listed module hands on", async () => {
    const side = await check('import { other } from "./other.server.ts";', FILES, app("[accounts]"));
    expect(side.stubs).toHaveLength(1);
  });

  test.each(["[accounts, ...more]", "list()", "[accounts, load()]", "[{ login }]"])(
    "cannot be told from %s",
    async (modules) => {
      expect((await check('import { renamed } from "./other.server.ts";', FILES, app(modules))).stubs).toHaveLength(1);
    },
  );
});

test.each([
  ["tsweb", true],
  ["tsweb/auth", true],
  ["tsweb/anything-new", true],
  ["tsweb/", true],
  ["tsweb?raw", true],
  ["tsweb/browser", false],
  ["tsweb/stub", false],
  ["tsweb/jsx-runtime", false],
  ["tsweb-other", false],
  ["./tsweb", false],
  ["@acme/tsweb", false],
])("%s is a door of the server: %s", (specifier, expected) => {
  expect(isServerDoor(specifier)).toBe(expected);
});

test.each([
  ["/a.server.ts", false],
  ["/a.server.ts?t=123", false],
  ["/a.server.ts?v=abc", false],
  ["/a.server.ts?import", false],
  ["/a.server.ts?import&t=123", false],
  ["/a.server.ts?raw", true],
  ["/a.server.ts?t=1&raw", true],
  ["/a.server.ts?import&url", true],
  ["/a.server.ts?worker_file&type=module", true],
])("%s asks for something else than the module: %s", (id, expected) => {
  expect(hasForeignQuery(id)).toBe(expected);
});
