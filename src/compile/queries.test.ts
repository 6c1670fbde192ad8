import { describe, expect, test } from "vitest";
import {
  compileErrorAt,
  compileErrorOf,
  inMemoryResolver,
  parseMarkedCode,
  readTestModule,
} from "#test/in-memory-modules";
import { readBrowserImports } from "./browser-imports.ts";
import { compileServerModule, strictSignatures } from "./server-code.ts";
import { emitStubs } from "./stubs.ts";

const IMPORT = 'import { query, server, page, type int } from "tsweb";\n';
const compile = (code: string) =>
  compileServerModule(IMPORT + code, { file: "/app/src/a.server.ts", root: "/app" })?.code;

async function errorOf(code: string): Promise<string> {
  const error = await compileErrorAt("src/a.server.ts", IMPORT + code);
  return error.message;
}

describe("a query in a module for the server", () => {
  test("gets its signature, as a server function does, each its own", () => {
    const code = compile(
      [
        "export const add = server((title: string) => title);",
        "export const cards = query({ on: (board) => [board] }, (board: string, limit: int = 5) => [board, limit]);",
        'export const home = page("/", () => null);',
        'export const all = query({ on: ["a"] }, load); function load() { return 1; }',
      ].join("\n"),
    );
    const string = '{"name":"title","type":"any","annotation":"string","shape":{"kinds":["string"]}}';
    expect(code?.split("\n").slice(1)).toEqual([
      `export const add = server((title: string) => title, undefined, {"name":"add","file":"src/a.server.ts","line":2,"params":[${string}]});`,
      "export const cards = query({ on: (board) => [board] }, (board: string, limit: int = 5) => [board, limit], " +
        `{"name":"cards","file":"src/a.server.ts","line":3,"params":[${string.replace("title", "board")},` +
        '{"name":"limit","type":"int","optional":true,"annotation":"int"}]});',
      'export const home = page("/", () => null, undefined, {"file":"src/a.server.ts","line":4});',
      'export const all = query({ on: ["a"] }, load, {"name":"all","file":"src/a.server.ts","line":5,"params":[]}); function load() { return 1; }',
    ]);
  });

  test("has a hash of its signature in builds, as a server function", async () => {
    const hashOf = async (kind: string) => {
      const options = kind === "query" ? '{ on: ["a"] }, ' : "";
      const code = `${IMPORT}export const cards = ${kind}(${options}(board: string): string[] => [board]);`;
      const resolver = inMemoryResolver({ "src/a.server.ts": code });
      const facts = await resolver.read("/app/src/a.server.ts");
      const signatures = facts && (await strictSignatures(facts, resolver, { hashed: true }));
      return [...(signatures?.queries ?? []), ...(signatures?.functions ?? [])].map(({ hash }) => hash);
    };
    expect(await hashOf("query")).toEqual(await hashOf("server"));
    expect((await hashOf("query"))[0]).toMatch(/^[\w-]{6}$/);
  });

  test.each([
    [
      "const cards = «query((board: string) => board);",
      "Invalid arguments of query(). Call it as query({ on: … }, fn).",
    ],
    [
      "const cards = query({ on: [] }, «async function* (board: string) { yield board; });",
      'The query "cards" is written with function*, but a query has one value. Return an array, or use server().',
    ],
    [
      "const cards = query({ on: [] }, (board: string, «limit = 20) => board);",
      'The query "cards" has a parameter with a default and without a type, so `on` would get no type for it. Write its type: ' +
        "`limit: … = 20`.",
    ],
    [
      "const cards = query({ on: [] }, («...boards: string[]) => boards);",
      'The query "cards" takes its arguments by name, so it cannot have a rest parameter. Use one array parameter instead.',
    ],
    [
      "const cards = query({ on: [] }, «load());",
      "query() needs a function written in this module, because its parameters are read from the source. Write " +
        "`export const cards = query({ on: … }, (…) => …)`.",
    ],
  ])("is rejected: %s", async (code, message) => {
    expect(await errorOf(`export ${code}`)).toBe(message);
  });

  test("is rejected with a parameter for files", async () => {
    const { code, location } = parseMarkedCode(
      `${IMPORT}export const size = query({ on: [] }, («picture: File) => picture.size);`,
    );
    const error = await compileErrorOf(() => compileServerModule(code, { file: "/app/src/a.server.ts", root: "/app" }));
    expect(error.loc).toMatchObject(location ?? {});
    expect(error.message).toBe(
      'The query "size" has a parameter for files, which no token can contain. Pass the id of a stored file.',
    );
  });

  test("is rejected elsewhere than at the top level, and in a module for the browser", async () => {
    expect(await errorOf("export const f = () => «query({ on: [] }, () => 1);")).toContain(
      "query() must be at the top level",
    );
    const error = await compileErrorOf(() =>
      readTestModule("src/a.ts", `${IMPORT}export const a = query({ on: [] }, () => 1);`),
    );
    expect(error.message).toContain(
      'query() must be in a server module, so that its code never reaches the browser. Rename this file to "a.server.ts".',
    );
  });
});

describe("a query in the browser", () => {
  const FILES = {
    "src/board.server.ts": `${IMPORT}
      const SECRET = "k3y";
      export const cards = query({ on: [SECRET] }, (board: string) => board + SECRET);
      export const add = server((title: string) => title);`,
    "src/all.server.ts": 'export * from "./board.server.ts";\nexport { cards as tickets } from "./board.server.ts";',
  };

  test("has no stub, and nothing of it is in the stubs of its module [QUERY-10]", () => {
    const stubs = emitStubs(readTestModule("src/board.server.ts", FILES["src/board.server.ts"]));
    expect(stubs).toBe(
      'import { stub } from "tsweb/stub";\nexport const add = /*#__PURE__*/ stub("add", ["title"]);\n',
    );
  });

  test.each([
    'import { view } from "tsweb/browser";\nimport { «cards } from "./board.server.ts";',
    'import { add, «cards as list } from "./board.server.ts";',
    'export { «cards } from "./board.server.ts";',
  ])("cannot be imported: %s", async (text) => {
    const { code, location } = parseMarkedCode(text);
    const resolver = inMemoryResolver(FILES);
    const facts = readTestModule("src/board.tsx", code);
    const error = await compileErrorOf(() => readBrowserImports(facts, resolver));
    expect(error.loc).toMatchObject(location ?? {});
    expect(error.message).toBe(
      '"cards" is a query of src/board.server.ts, which browsers cannot call. Pass `await cards.live(…)` from the page as a prop, or ' +
        'return it from a server function, and call `live(props.…)` of "tsweb/browser" here.',
    );
  });

  test.each(["cards", "tickets"])("cannot be imported from a module that re-exports it: %s", async (name) => {
    const facts = readTestModule("src/board.tsx", `import { ${name} } from "./all.server.ts";`);
    const error = await compileErrorOf(() => readBrowserImports(facts, inMemoryResolver(FILES)));
    expect(error.message).toContain(`"${name}" is a query of src/board.server.ts, which browsers cannot call.`);
  });
});
