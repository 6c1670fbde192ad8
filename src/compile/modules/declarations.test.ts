import { describe, expect, test } from "vitest";
import { compileErrorAt, compileErrorOf, readTestModule } from "#test/in-memory-modules";

const IMPORT = 'import { server } from "tsweb";\n';

function names(code: string, file = "src/a.server.ts"): string[] {
  const facts = readTestModule(file, code);
  return facts.declarations.map(({ kind, name }) => `${kind} ${name}`);
}

describe("finding declarations", () => {
  const cases: [title: string, code: string, expected: string[]][] = [
    ["an exported const", `${IMPORT}export const a = server(() => 1);`, ["server a"]],
    [
      "several declarations in one statement",
      `${IMPORT}export const a = server(() => 1), b = server(() => 2);`,
      ["server a", "server b"],
    ],
    ["a const exported below", `${IMPORT}const a = server(() => 1);\nexport { a };`, ["server a"]],
    ["a declaration by its exported name", `${IMPORT}const a = server(() => 1);\nexport { a as b };`, ["server b"]],
    [
      "the call of an aliased import",
      'import { server as s } from "tsweb";\nexport const a = s(() => 1);',
      ["server a"],
    ],
    [
      "the call of a member of a namespace import",
      'import * as t from "tsweb";\nexport const a = t.server(() => 1);',
      ["server a"],
    ],
    [
      "the call of a member of a namespace import, by a string key",
      'import * as t from "tsweb";\nexport const a = t["server"](() => 1);',
      ["server a"],
    ],
    [
      "the call of an import by a string name",
      'import { "server" as s } from "tsweb";\nexport const a = s(() => 1);',
      ["server a"],
    ],
    ["a call with satisfies", `${IMPORT}export const a = server((b: string) => b) satisfies unknown;`, ["server a"]],
    ["a call with as, ! and parentheses", `${IMPORT}export const a = ((server(() => 1))! as unknown);`, ["server a"]],
    ["a call with a parenthesised callee", `${IMPORT}export const a = (server)(() => 1);`, ["server a"]],
    [
      "pages and routes",
      'import { page, route } from "tsweb";\nexport const a = page("/", () => null);\nexport const b = route("GET /x", () => null);',
      ["page a", "route b"],
    ],
    [
      "a route with options",
      'import { route } from "tsweb";\nexport const a = route("POST /x", { max_body: 9 }, () => new Response());',
      ["route a"],
    ],
    [
      "nothing in a call of another package's server()",
      'import { server } from "other";\nexport const a = f(server(() => 1));',
      [],
    ],
    [
      "nothing in a call of a shadowed name",
      `${IMPORT}export function f(server: (x: number) => void) { return server(1); }`,
      [],
    ],
    [
      "nothing in a call of a name that a block shadows",
      `${IMPORT}export function f() { { const server = (x: number) => x; server(1); } }`,
      [],
    ],
    [
      "nothing in a call of a name that a catch clause shadows",
      `${IMPORT}try { f(); } catch (server) { server(1); }`,
      [],
    ],
    [
      "nothing in a call of a name that a hoisted var shadows",
      `${IMPORT}export function f() { server(1); if (x) { var server = g; } }`,
      [],
    ],
    [
      "nothing in a call of a name that a class shadows",
      `${IMPORT}export const f = () => { class server {} return server(1); };`,
      [],
    ],
    [
      "nothing in a call of a name that its own function shadows",
      `${IMPORT}export const f = function server(n: number) { return server(n); };`,
      [],
    ],
    [
      "nothing in a call of a destructured parameter",
      `${IMPORT}export const f = ({ server = 1, ...rest }) => server(rest);`,
      [],
    ],
    ["nothing in a call of a method of that name", `${IMPORT}app.server(() => 1);`, []],
    ["nothing where server is not called", `${IMPORT}export const a = [server];`, []],
    ["nothing in a call of another export of tsweb", 'import { App } from "tsweb";\nexport default App({});', []],
  ];
  test.each(cases)("finds %s", (_title, code, expected) => {
    expect(names(code)).toEqual(expected);
  });

  test("finds views, default exports included, in a module that is not a server module", () => {
    const code =
      'import { view } from "tsweb/browser";\nexport const A = view(() => null);\nexport default view(() => null);';
    expect(names(code, "src/a.tsx")).toEqual(["view A", "view default"]);
  });

  test("names a view that is exported twice by its first name", () => {
    const code = 'import { view } from "tsweb/browser";\nexport const A = view(() => null);\nexport default A;';
    expect(names(code, "src/a.tsx")).toEqual(["view A"]);
  });
});

describe("a declaration is rejected", () => {
  const rejected: [title: string, code: string, message: RegExp, file?: string][] = [
    [
      "inside a function",
      `${IMPORT}export function f() { return «server(() => 1); }`,
      /at the top level of its module/,
    ],
    ["inside an arrow function", `${IMPORT}export const f = () => «server(() => 1);`, /at the top level of its module/],
    ["inside a block", `${IMPORT}if (x) {\n  «server(() => 1);\n}`, /at the top level of its module/],
    ["inside another call", `${IMPORT}export const a = wrap(«server(() => 1));`, /whole value of an exported const/],
    ["inside an object", `${IMPORT}export const a = { b: «server(() => 1) };`, /whole value of an exported const/],
    ["as an expression statement", `${IMPORT}«server(() => 1);`, /whole value of an exported const/],
    ["with an optional call", `${IMPORT}export const a = «server?.(() => 1);`, /whole value of an exported const/],
    [
      "when it is assigned after the declaration",
      `${IMPORT}export let a;\na = «server(() => 1);`,
      /whole value of an exported const/,
    ],
    [
      "as the default export",
      `${IMPORT}export default «server(() => 1);`,
      /needs a name, but a default export has none/,
    ],
    [
      "when it is exported as default in a separate statement",
      `${IMPORT}const a = server(() => 1);\nexport { «a as default };`,
      /needs a name/,
    ],
    [
      "when it is not exported",
      `${IMPORT}const «a = server(() => 1);`,
      /"a" is not exported, so the application cannot use it\. Write `export const a = server\(…\)`\.$/,
    ],
    [
      "when it is exported as a type only",
      `${IMPORT}const «a = server(() => 1);\nexport { type a };`,
      /"a" is not exported/,
    ],
    [
      "when it is exported twice",
      `${IMPORT}export const a = server(() => 1);\nexport { «a as b };`,
      /two names, "a" and "b"/,
    ],
    [
      "when its exported name is not an identifier",
      `${IMPORT}const a = server(() => 1);\nexport { «a as "a-b" };`,
      /The export name "a-b" is not an identifier/,
    ],
    ["when it is declared with let", `${IMPORT}export «let a = server(() => 1);`, /declared with const/],
    ["when it is declared with var", `${IMPORT}export «var a = server(() => 1);`, /declared with const/],
    ["when it is destructured", `${IMPORT}export const «{ a } = server(() => 1);`, /cannot be destructured/],
    [
      "when it is server() in a module that is not a server module",
      `${IMPORT}\nexport const a = «server(() => 1);`,
      /Rename this file to "a\.server\.tsx"/,
      "src/a.tsx",
    ],
    [
      "when it is page() in a module that is not a server module",
      'import { page } from "tsweb";\nexport const a = «page("/", () => 1);',
      /page\(\) must be in a server module/,
      "src/a.ts",
    ],
    [
      "when it is view() in a server module",
      'import { view } from "tsweb/browser";\nexport const A = «view(() => 1);',
      /view\(\) cannot be used in a server module/,
    ],
    [
      "when it is a view that is not exported",
      'import { view } from "tsweb/browser";\nconst «A = view(() => 1);',
      /"A" is not exported/,
      "src/a.tsx",
    ],
    [
      "when it is an async view",
      'import { view } from "tsweb/browser";\nexport const A = view(«async () => 1);',
      /"A" is async, but rendering is synchronous/,
      "src/a.tsx",
    ],
    [
      "when it is a view of a named async function",
      'import { view } from "tsweb/browser";\nasync function f() {}\nexport const A = view(«f);',
      /is async/,
      "src/a.tsx",
    ],
    [
      "when it is a view of a generator function",
      'import { view } from "tsweb/browser";\nexport const A = view(«function* () {});',
      /is a generator/,
      "src/a.tsx",
    ],
  ];
  test.each(rejected)("%s", async (_title, text, message, file = "src/a.server.ts") => {
    const error = await compileErrorAt(file, text);
    expect(error.message).toMatch(message);
    expect(error.id).toBe(`/app/${file}`);
    expect(error.frame).toContain("^");
  });
});

describe("a declaration is rejected for its arguments:", () => {
  const rejected: [title: string, code: string, message: RegExp][] = [
    [
      "no arguments",
      "export const a = «server();",
      /Invalid arguments of server\(\)\. Call it as server\(fn\) or server\(\{ … \}, fn\)/,
    ],
    ["too many arguments", "export const a = «server({}, () => 1, 3);", /Call it as server\(fn\)/],
    ["a spread argument", "export const a = server(«...all);", /Call it as server\(fn\)/],
    ["options without a function", "export const a = «server({ auth_required: true });", /Call it as server\(fn\)/],
    ["options after the function", "export const a = «server(() => 1, {});", /Call it as server\(fn\)/],
    ["a call as the function", "export const a = server(«make());", /a function written in this module/],
    [
      "a member expression as the function",
      "export const a = server(«all.login);",
      /a function written in this module/,
    ],
    ["a class as the function", "export const a = server(«class {});", /a function written in this module/],
    ["an undeclared name", "export const a = server(«login);", /"login" is not declared in this module/],
    [
      "an imported function",
      'import { login } from "./b.ts";\nexport const a = server(«login);',
      /"login" is imported/,
    ],
    ["a function that is reassigned", "function f() {}\nf = g;\nexport const a = server(«f);", /"f" is reassigned/],
    ["a function that a pattern reassigns", "function f() {}\n[f] = g;\nexport const a = server(«f);", /is reassigned/],
    [
      "a function in a let variable",
      "let f = () => 1;\nexport const a = server(«f);",
      /"f" is neither a function declaration nor a const function of this module/,
    ],
    [
      "a const that is not a function",
      "const f = bind(g);\nexport const a = server(«f);",
      /"f" is neither a function declaration/,
    ],
    [
      "a destructured function",
      "const { f } = () => 1;\nexport const a = server(«f);",
      /"f" is neither a function declaration/,
    ],
    ["a class declaration", "class F {}\nexport const a = server(«F);", /"F" is neither a function declaration/],
  ];
  test.each(rejected)("%s", async (_title, code, message) => {
    const error = await compileErrorAt("src/a.server.ts", IMPORT + code);
    expect(error.message).toMatch(message);
  });

  test.each([
    ["src/a.server.tsx", 'import { page } from "tsweb";\nexport const a = page("/", «<main>Hello</main>);', "page"],
    [
      "src/a.server.tsx",
      'import { page } from "tsweb";\nexport const a = page("/", { title: "A" }, («<></>));',
      "page",
    ],
    ["src/a.tsx", 'import { view } from "tsweb/browser";\nexport const A = view(«<b />);', "view"],
  ])("markup as the function: %s %s", async (file, text, kind) => {
    const error = await compileErrorAt(file, text);
    expect(error.message).toBe(
      `${kind}() takes a function that returns markup, and this is markup. Write \`() =>\` before it.`,
    );
  });

  test("the error names the forms of page()", async () => {
    const code = 'import { page, route } from "tsweb";\nexport const a = page("/");';
    expect((await compileErrorOf(() => readTestModule("src/a.server.ts", code))).message).toBe(
      "Invalid arguments of page(). Call it as page(path, fn) or page(path, { … }, fn).",
    );
  });

  test("the error names the forms of route()", async () => {
    const code = 'import { route } from "tsweb";\nexport const a = route("GET /x", { max_body: 9 });';
    expect((await compileErrorOf(() => readTestModule("src/a.server.ts", code))).message).toBe(
      "Invalid arguments of route(). Call it as route(pattern, fn) or route(pattern, { … }, fn).",
    );
  });

  test("a syntax error has its location", async () => {
    const error = await compileErrorOf(() =>
      readTestModule("src/a.server.ts", "export const a = 1;\nexport const b = ;"),
    );
    expect(error.loc).toEqual({ file: "/app/src/a.server.ts", line: 2, column: 17 });
  });
});
