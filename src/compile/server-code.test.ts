import { describe, expect, test } from "vitest";
import { compileServerModule, mayContainDeclarations } from "./server-code.ts";

const compile = (code: string, file = "/app/src/a.server.tsx") => compileServerModule(code, { file, root: "/app" });

const IMPORT = 'import { server, page, route } from "tsweb";\n';
const SIGNATURE = '{"name":"f","file":"src/a.server.tsx","line":2,"params":[]}';
const SOURCE = '{"file":"src/a.server.tsx","line":2}';

describe("the argument that is appended to a declaration", () => {
  const table: [code: string, expected: string][] = [
    ["export const f = server(() => 1);", `export const f = server(() => 1, undefined, ${SIGNATURE});`],
    ["export const f = server({}, () => 1);", `export const f = server({}, () => 1, ${SIGNATURE});`],
    ["export const f = server(() => 1,);", `export const f = server(() => 1, undefined, ${SIGNATURE},);`],
    ["export const f = server((() => 1));", `export const f = server((() => 1), undefined, ${SIGNATURE});`],
    [
      "export const f = server(() => 1 /* , ) */);",
      `export const f = server(() => 1, undefined, ${SIGNATURE} /* , ) */);`,
    ],
    [
      "export const f = server(() => 1 // here\n);",
      `export const f = server(() => 1, undefined, ${SIGNATURE} // here\n);`,
    ],
    [
      "export const f = server(() => 1) satisfies X;",
      `export const f = server(() => 1, undefined, ${SIGNATURE}) satisfies X;`,
    ],
    ['export const f = page("/", () => 1);', `export const f = page("/", () => 1, undefined, ${SOURCE});`],
    ['export const f = page("/", {}, Home);', `export const f = page("/", {}, Home, ${SOURCE});`],
    ['export const f = route("GET /x", () => 1);', `export const f = route("GET /x", () => 1, undefined, ${SOURCE});`],
    ['export const f = route("GET /x", {}, () => 1);', `export const f = route("GET /x", {}, () => 1, ${SOURCE});`],
  ];
  test.each(table)("follows the last argument: %s", (code, expected) => {
    expect(compile(IMPORT + code)?.code).toBe(IMPORT + expected);
  });

  test("is the file and name of a view", () => {
    const head = 'import { view as v } from "tsweb/browser";\n';
    expect(compile(`${head}export const A = v(() => <p />);\nexport default v(B);`, "/app/src/a.tsx")?.code).toBe(
      `${head}export const A = v(() => <p />, {"file":"src/a.tsx","name":"A"});\nexport default v(B, {"file":"src/a.tsx","name":"default"});`,
    );
  });

  test("does not change line numbers", () => {
    const code = `${IMPORT}\nexport const f = server(\n  () => {\n    throw new Error();\n  },\n);\n\nexport const g = 1;\n`;
    const lines = compile(code)?.code.split("\n");
    expect(lines?.length).toBe(code.split("\n").length);
    expect(lines?.[4]).toBe("    throw new Error();");
    expect(lines?.[8]).toBe("export const g = 1;");
  });

  test("comes with a source map that contains the source", () => {
    const code = `${IMPORT}export const f = server(() => 1);`;
    expect(compile(code)?.map).toMatchObject({ sources: ["/app/src/a.server.tsx"], sourcesContent: [code] });
  });

  test("names files relative to the root, with forward slashes", () => {
    const code = `${IMPORT}export const f = server(() => 1);`;
    const named = (file: string, root: string) =>
      /"file":"(.*?)"/.exec(compileServerModule(code, { file, root })?.code ?? "")?.[1];
    expect(named("C:\\app\\src\\a.server.ts", "C:\\app")).toBe("src/a.server.ts");
    expect(named("/app/src/a.server.ts", "/app/")).toBe("src/a.server.ts");
    expect(named("/lib/a.server.ts", "/app")).toBe("../lib/a.server.ts");
  });
});

describe("a module without declarations", () => {
  test.each([
    "export const a = 1;",
    'import { App } from "tsweb";\nexport default new App();',
    'import { server } from "other";\nexport const f = server(() => 1);',
    'import { server } from "./tsweb.ts";\nexport const f = server(() => 1);',
  ])("is not compiled: %s", (code) => {
    expect(compile(code)).toBeUndefined();
  });

  test("is not parsed", () => {
    expect(compile("this is no module")).toBeUndefined();
    expect(compile(`${IMPORT}server();`, "/app/src/style.css")).toBeUndefined();
  });
});

test.each([
  ['import { server } from "tsweb";', true],
  ["import { page } from 'tsweb';", true],
  ['import * as t from "tsweb";\nt.route();', true],
  ['import { view } from "tsweb/browser";', true],
  ['import { state } from "tsweb/browser";', true],
  ['import { subscribe } from "tsweb/browser";', false],
  ['import { server } from "tsweb/auth";', false],
  ['import { server } from "not-tsweb";', false],
])("%s may contain declarations: %s", (code, expected) => {
  expect(mayContainDeclarations(code)).toBe(expected);
});
