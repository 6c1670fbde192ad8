import { describe, expect, test } from "vitest";
import { compileErrorOf } from "#test/in-memory-modules";
import { parse, rejectRedeclarations } from "./parse.ts";
import { readScopes } from "./scope.ts";

const source = (code: string) => ({ file: "/app/src/a.tsx", code });

describe("a syntax error in markup is reported with the fix", () => {
  test.each([
    ["const a = <p><!-- text --></p>;", "JSX has no HTML comments: write `{/* comment */}`."],
    ["const a = (\n  <p>\n    <!-- text -->\n  </p>\n);", "write `{/* comment */}`."],
    ["const a = <p><br></p>;", "write `<br />`."],
    ["const a = <p><b></p>;", "Write `</b>` before this tag, or remove this tag."],
    ["const a = () => (\n<p />\n<b />\n);", "Write `<>` before them and `</>` after them."],
    ["const a = <p>{if (b) <b />}</p>;", "write `{condition && <p>…</p>}`"],
    ["const a = <p>{for (const b of c) <b />}</p>;", "write `{items.map("],
    ["const a = <p>{b;}</p>;", "remove the semicolon."],
    ["const a = () => { const b = await c(); };", "Declare the function around it as async."],
  ])("%s", async (code, fix) => {
    const error = await compileErrorOf(() => parse(source(code)));
    expect(error.message).toContain(fix);
    expect(error.loc.line).toBeGreaterThan(0);
  });

  test.each([
    ["a view", "const A = view(() => {\n  return (\n    <form>\n      <p>a</p>\n  );\n});\n", "form", 3],
    ["a page", 'const a = page("/", () => (\n  <main>\n    <br />\n    {b}\n));\n', "main", 2],
    [
      "code below",
      "const a = () => (\n  <main>\n    <A />\n);\nconst b = () => {\n  return <p>{c}</p>;\n};\n",
      "main",
      2,
    ],
    ["no line of its own", "const a = () => {\n  return <b>{c};\n};\n", "b", 2],
    ["a component", "const a = () => {\n  return (\n    <A.B c={() => d}>\n      <A.B />\n  );\n};\n", "A.B", 3],
    ["carriage returns", "const a = () => {\r\n  return (\r\n    <ul>\r\n  );\r\n};\r\n", "ul", 3],
  ])("an element without its closing tag, at its opening tag: %s", async (_, code, name, line) => {
    const error = await compileErrorOf(() => parse(source(code)));
    expect(error.message).toBe(`\`<${name}>\` in line ${line} is not closed. Write \`</${name}>\` after its children.`);
    expect(error.loc.line).toBe(line);
  });

  test.each([
    "const a = <p>{b}</p>;\nconst c = ;",
    "const a = () => {\n  return (\n    <p>a</p>\n  ;\n};",
    "const a = () => <p>a } b</p>;",
    "const a = (b: Array<string>) => { if b };",
  ])("and an error without one is not reported as one: %s", async (code) => {
    expect((await compileErrorOf(() => parse(source(code)))).message).not.toContain("is not closed");
  });

  test("and other errors keep the parser's message", async () => {
    expect((await compileErrorOf(() => parse(source("const a = ;")))).message).toBe("Unexpected token");
  });
});

describe("a name that one block declares twice", () => {
  const check = (code: string) => rejectRedeclarations(readScopes(parse(source(code))), source(code));

  test.each([
    "const a = 1;\nconst a = 2;",
    "export const a = 1;\nlet a = 2;",
    "const { a } = b;\nclass a {}",
    "{ let a;\nconst [a] = b; }",
    "function f() { const a = 1;\nconst a = 2; }",
  ])("is rejected at the second: %s", async (code) => {
    const error = await compileErrorOf(() => check(code));
    expect(error.message).toBe('"a" is declared twice. Rename or remove one of the declarations.');
    expect(error.loc.line).toBe(2);
  });

  test.each([
    "const a = 1; { const a = 2; }",
    "var a = 1; var a = 2;",
    "const a = 1; type a = string; interface b {} const b = 1;",
    "declare const a: 1; declare const a: 1;",
    "function a(): void; function a() {}",
    "const f = (a) => { { let a; } };",
    "enum A { a } enum A { b } namespace N {} namespace N {}",
    "class a {} interface a {} namespace a {}",
    "switch (1) { case 1: { const a = 1; } case 2: { const a = 1; } }",
  ])("is accepted: %s", (code) => {
    expect(() => check(code)).not.toThrow();
  });
});
