import { describe, expect, test } from "vitest";
import { compileErrorAt, inMemoryResolver, readTestModule } from "#test/in-memory-modules";
import { hasUnsupportedQuery, isServerEntryPoint, readBrowserImports } from "./browser-imports.ts";
import { readServedFunctions } from "./modules/index.ts";

const FILES = {
  "src/accounts.server.ts": `
    import { server, page } from "tsweb";
    export const login = server((email: string) => email);
    export const db = "secret";
    export interface User { name: string }
    export type Id = string;
    export const home = page("/", () => null);
    export const computed = page(\`/\${db}\`, () => null);
    export class Table {}
    export function plain(name: string) { return name; }
    export const arrow = () => 1;
    export { other, renamed as second } from "./other.server.ts";
    export default db;
  `,
  "src/other.server.ts": `
    import { route, server } from "tsweb";
    export const file = route("GET /files/:name", () => new Response());
    export const other = server(() => 1);
    export const renamed = server(() => 1);
  `,
  "src/all.server.ts": 'export * from "./other.server.ts";',
  "src/broken.server.ts": 'import { server } from "tsweb"; export default server(() => 1);',
  "src/shared.ts": "export const shared = 1;",
  "src/barrel.ts": 'export { login } from "./accounts.server.ts";',
};

async function check(code: string, files: Record<string, string> = FILES, app?: string) {
  const resolver = inMemoryResolver(files);
  const served = app === undefined ? undefined : () => readServedFunctions(readTestModule("src/app.ts", app), resolver);
  return readBrowserImports(readTestModule("src/view.tsx", code), resolver, served);
}

describe("browser code may import", () => {
  const allowed: [title: string, code: string, stubs: string[]][] = [
    ["a server function", 'import { login } from "./accounts.server.ts";', ["src/accounts.server.ts login"]],
    [
      "a server function under a local alias",
      'import { login as signIn } from "./accounts.server.ts";',
      ["src/accounts.server.ts login"],
    ],
    [
      "a server function, by a specifier without an extension",
      'import { login } from "./accounts.server";',
      ["src/accounts.server.ts login"],
    ],
    [
      "a server function, by an aliased specifier",
      'import { login } from "~/accounts.server.ts";',
      ["src/accounts.server.ts login"],
    ],
    [
      "a server function that a server module re-exports",
      'import { other } from "./accounts.server.ts";',
      ["src/other.server.ts other"],
    ],
    [
      "a server function that a server module re-exports with a star",
      'import { other } from "./all.server.ts";',
      ["src/other.server.ts other"],
    ],
    [
      "a server function, to re-export it",
      'export { login } from "./accounts.server.ts";',
      ["src/accounts.server.ts login"],
    ],
    ["a page, for links to it", 'import { home } from "./accounts.server.ts";', []],
    ["a route that a server module re-exports, for links to it", 'import { file } from "./all.server.ts";', []],
    ["types", 'import type { User, db, Missing } from "./accounts.server.ts";', []],
    [
      "types and functions in one statement",
      'import { login, type User } from "./accounts.server.ts";',
      ["src/accounts.server.ts login"],
    ],
    ["a namespace of types", 'import type * as all from "./accounts.server.ts";', []],
    [
      "types, to re-export them",
      'export type { User } from "./accounts.server.ts";\nexport type * from "./accounts.server.ts";',
      [],
    ],
    ["types of tsweb", 'import type { int } from "tsweb";', []],
    ["the browser entry points of tsweb", 'import { view } from "tsweb/browser"; import "tsweb/islands";', []],
    [
      "modules that are not server modules, in every form",
      'import * as s from "./shared.ts"; import "./shared.ts"; import("./shared.ts"); export * from "./shared.ts"; new URL("./shared.ts", import.meta.url);',
      [],
    ],
    ["packages", 'import { h } from "preact";', []],
    ["types of Node", 'import type { Buffer } from "node:buffer";', []],
    ["the type of a whole server module", 'type A = typeof import("./accounts.server.ts");', []],
    [
      "a server module with a compile error, which is reported for that module",
      'import { f } from "./broken.server.ts";',
      [],
    ],
  ];
  test.each(allowed)("%s", async (_title, code, stubs) => {
    const imports = await check(code);
    expect(imports.stubs.map(({ file, name }) => `${file} ${name}`)).toEqual(stubs);
    expect(imports.compiled).toBeUndefined();
  });

  test.each([
    ['import { type int } from "tsweb";\nconst a: int = 1;', "\nconst a: int = 1;"],
    ['import { type User, type Id } from "./accounts.server.ts";', ""],
    ['export { type User } from "./accounts.server.ts";', ""],
  ])("removes %s, which imports types only", async (code, expected) => {
    const imports = await check(code);
    expect(imports.compiled?.code).toBe(expected);
    expect(imports.stubs).toEqual([]);
  });

  test("records which module imports a stub", async () => {
    expect((await check('import { login } from "./accounts.server.ts";')).stubs).toEqual([
      { file: "src/accounts.server.ts", name: "login", importer: "src/view.tsx" },
    ]);
  });
});

describe("browser code may not import", () => {
  const rejected: [code: string, message: RegExp][] = [
    [
      'import { «db } from "./accounts.server.ts";',
      /^"db" of src\/accounts\.server\.ts is not a server function, and browser code can import nothing else/,
    ],
    [
      'import {\n  login,\n  «db as x,\n} from "./accounts.server.ts";',
      /^"db" of src\/accounts\.server\.ts is not a server function/,
    ],
    ['import { «db } from "./accounts.server.ts";', /Move it to a file without "\.server" in its path/],
    [
      'import { «plain } from "./accounts.server.ts";',
      /wrap it in server\(\): `export const plain = server\(async \(…\) => …\)`\.$/,
    ],
    [
      'import { «arrow } from "./accounts.server.ts";',
      /wrap it in server\(\): `export const arrow = server\(async \(\) => …\)`\.$/,
    ],
    [
      'import { «Table } from "./accounts.server";',
      /If only its type is needed, use `import type`\. Otherwise move it/,
    ],
    ['import { «User } from "./accounts.server.ts";', /^"User" is a type\. Import it with `import type \{ User \}`\.$/],
    ['import { «Id } from "~/accounts.server.ts";', /^"Id" is a type/],
    [
      'import { «computed } from "./accounts.server.ts";',
      /^"computed" is a page of src\/accounts\.server\.ts whose path is not written as text, so browser code cannot link to it\. Write its path as text\.$/,
    ],
    [
      'import { «missing } from "./accounts.server.ts";',
      /^src\/accounts\.server\.ts exports no server function "missing"\. Server functions that it declares: login\.$/,
    ],
    ['import { «second } from "./accounts.server.ts";', /^"second" is "renamed" under another name/],
    [
      'import «* as all from "./accounts.server.ts";',
      /browser code can import only its server functions\. Import them by name/,
    ],
    ['import «db from "./accounts.server.ts";', /server functions are named exports/],
    ['import { «default as db } from "./accounts.server.ts";', /server functions are named exports/],
    ['import { login, «db } from "./accounts.server.ts";', /"db"/],
    ['«import "./accounts.server.ts";', /it never runs in the browser\. Remove this import/],
    ['«import {} from "./accounts.server.ts";', /it never runs in the browser/],
    ['export { «db } from "./accounts.server.ts";', /"db" of src\/accounts\.server\.ts is not a server function/],
    ['export { «db as login } from "./accounts.server.ts";', /"db"/],
    ['export * from «"./accounts.server.ts";', /Export them by name: `export \{ name \} from …`/],
    ['export * as all from «"./accounts.server.ts";', /Export them by name: `export \{ name \} from …`/],
    ['const a = () => import(«"./accounts.server.ts");', /which loads none of its code/],
    ["const a = () => import(«`./accounts.server`);", /which loads none of its code/],
    ['const a = require(«"./accounts.server.ts");', /Import them by name: `import/],
    ['import a = require(«"./accounts.server.ts");', /Import them by name: `import/],
    ['new Worker(new URL(«"./accounts.server.ts", import.meta.url));', /it has no URL in the browser/],
    ['new URL(«"accounts.server.ts", import.meta.url);', /it has no URL in the browser/],
    ['new URL(«"/src/accounts.server.ts", import.meta.url);', /it has no URL in the browser/],
    [
      'import text from «"./accounts.server.ts?raw";',
      /its text must stay on the server, so it cannot be imported with "\?raw"/,
    ],
    ['import text from «"./accounts.server.ts?url";', /"\?url"/],
    ['import text from «"./accounts.server?worker&inline";', /"\?worker&inline"/],
    ['import { login } from «"./accounts.server.ts?anything";', /"\?anything"/],
    ['import { «server } from "tsweb";', /^server exists on the server only.* Declare the function in a server module/],
    ['import { «session as s } from "tsweb";', /^session exists on the server only.* Read it in the page/],
    ['import { «redirect } from "tsweb";', /write `location\.assign\(path\)`\.$/],
    ['import { «RPCError } from "tsweb";', /Import it from "tsweb\/browser"\.$/],
    ['import { int } from «"tsweb";', /^"tsweb" is a server entry point of tsweb/],
    ['import x from «"tsweb";', /is a server entry point/],
    ['import { hash_password } from «"tsweb/auth";', /"tsweb\/auth" is a server entry point/],
    ['import «"tsweb/node";', /"tsweb\/node" is a server entry point/],
    ['import «"tsweb/register";', /is a server entry point/],
    ['import «"tsweb/vite";', /is a server entry point/],
    ['export { «App } from "tsweb";', /^App exists on the server only/],
    ['export * from «"tsweb";', /is a server entry point/],
    ['import(«"tsweb");', /is a server entry point/],
    ['import { type int, «App } from "tsweb";', /^App exists on the server only/],
    ['import { readFile } from «"node:fs";', /^"node:fs" is a Node module/],
    ['import { readFile } from «"node:fs/promises";', /is a Node module/],
    ['import fs from «"fs";', /^"fs" is a Node module/],
    ['import { createHash } from «"crypto";', /is a Node module/],
    ['import(«"node:crypto");', /is a Node module/],
  ];
  test.each(rejected)("rejects %s at the marked location", async (text, message) => {
    const error = await compileErrorAt("src/view.tsx", text, (text) => check(text));
    expect(error.message).toMatch(message);
    expect(error.frame).toContain("^");
  });
});

describe("a server function that the application does not serve", () => {
  const app = (modules: string) =>
    `import { App } from "tsweb";\nimport * as accounts from "./accounts.server.ts";\nimport * as other from "./other.server.ts";\nexport default new App({ modules: ${modules} });`;

  test("is rejected where it is imported", async () => {
    const error = await compileErrorAt(
      "src/view.tsx",
      'import { login } from "./accounts.server.ts";\nimport { «renamed } from "./other.server.ts";',
      (text) => check(text, FILES, app("[accounts]")),
    );
    expect(error.message).toBe(
      '"renamed" is a server function of src/other.server.ts, which the application does not serve. Add that module to `modules` in src/app.ts.',
    );
  });

  test("is accepted when a listed module re-exports it", async () => {
    const imports = await check('import { other } from "./other.server.ts";', FILES, app("[accounts]"));
    expect(imports.stubs).toHaveLength(1);
  });

  test.each(["[accounts, ...more]", "list()", "[accounts, load()]", "[{ login }]"])(
    "is accepted when the list of modules cannot be read: %s",
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
])("%s is a server entry point: %s", (specifier, expected) => {
  expect(isServerEntryPoint(specifier)).toBe(expected);
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
])("%s has a query that imports something else than the module: %s", (id, expected) => {
  expect(hasUnsupportedQuery(id)).toBe(expected);
});
