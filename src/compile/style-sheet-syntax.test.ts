import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileErrorOf, parseMarkedCode } from "#test/in-memory-modules";
import { checkStyleSheetSyntax } from "./style-sheets.ts";

const check = (code: string, file = "/app/src/style.css") => checkStyleSheetSyntax({ file, code });

describe("checkStyleSheetSyntax", () => {
  it.each([
    ["p «{\n  color: red;\n\n.b { color: blue }\n", "This { is not closed"],
    ["a { color: red }\n@media print «{\n  p { color: red;\n}\n", "This { is not closed"],
    ['p «{ content: "}"', "This { is not closed"],
    ["p «{ background: url(data:image/svg+xml;utf8,<svg>}</svg>)", "This { is not closed"],
    [".a\\} «{ color: red; /* } */", "This { is not closed"],
    ['[data-x="}"] «{ color: red', "This { is not closed"],
    ["p { color: red } «}\n.b { color: blue }", "This } closes nothing"],
    ["p { color: rgb«(0 0 0; }\n.b { color: blue }", "This ( is not closed. Add ) at its end."],
    ["p:is«(.a { color: red }\n.b { color: blue }", "This ( is not closed. Add ) at its end."],
    ["@layer a {\n  p { width: calc«(1px + (2px); }\n}\n", "This ( is not closed"],
    ["«[data-x { color: red }", "This [ is not closed. Add ] at its end."],
    ["p { color: red }\n«/* the end\n.b { color: blue }", "This comment is not closed"],
    ["«/*/ p { color: red }", "This comment is not closed"],
    ['p { content: «"a; }\n.b { color: blue }', 'This string is not closed in its line. Add " at its end.'],
    ["p { content: «'a\\'; }\r\n.b { color: blue }", "This string is not closed in its line. Add ' at its end."],
    ['p { content: «"a\\\\\\"; }', 'Add " at its end.'],
    ["p { background: «url(./a.png; }\n", "This url( is not closed. Add ) at its end."],
  ])("rejects %j", async (marked, message) => {
    const { code, location } = parseMarkedCode(marked);
    const error = await compileErrorOf(async () => check(code));
    expect(error.message).toContain(message);
    expect(error.loc).toMatchObject(location ?? {});
  });

  it.each([
    "",
    "\ufeffp { color: red }\r\n",
    "<!-- p { color: red } -->",
    '@charset "utf-8";\n@import url(./a.css) layer(base) supports(display: grid) screen;',
    "@layer base, theme;\n@layer base { p { &:hover { color: red } .b & { color: blue } > a { color: red } } }",
    "@media (400px <= width < 700px) { @supports (selector(:has(a))) { p:has(> a:not(.b, .c)) { color: red } } }",
    "@container card (inline-size > 30em) { p { color: red } }\n@property --a { syntax: '<length>'; inherits: false }",
    '[data-x="{"] { content: "}"; quotes: \'{\' "}" } [title=\'it\\\'s {\'] { color: red }',
    ".a\\{ { color: red } .w-\\[10px\\] { width: 10px } .b\\:hover\\} { color: red } .\\31 0\\( { color: red }",
    "p { background: url(\"data:image/svg+xml;utf8,<svg>{(}</svg>\") url( 'a)b.png' ) }",
    "p { background: URL(data:image/svg+xml;charset=utf8,%3Csvg{/*'\"); mask: url( a\\).png ) url(a\\\\) }",
    "p { content: '/*'; color: red } /* } ' \" ( { */ q { content: \"*/\" }",
    "/**/ p /***/ { color: /* { */ red }",
    "p { content: 'a\\\nb\\\r\nc' }",
    "p { --empty: {}; --json: { a: [1, { b: 2 }] }; --a:; --url: my-url({}) }",
    "p { *zoom: 1; filter: progid:DXImageTransform.Microsoft.gradient(startColorstr='#80000000', GradientType=0) }",
    "p { grid-template: [full-start] 'a a' 1fr [full-end] / minmax(0, 1fr) auto }",
    '@theme { --color-a: oklch(0.7 0.1 20) } @utility tab-* { tab-size: --value(integer) } p { @apply before:content-["{"] bg-[url(/a.png)] }',
    '@source inline("{hover:,}bg-red-{50,{100..900..100}}");',
    "@keyframes a { from { opacity: 0 } 50.5% { opacity: .5 } }\n@font-face { src: url(a.woff2) format('woff2') }",
    "@scope (.card) to (.content) { img { border: 1px solid } }\n@starting-style { p { opacity: 0 } }",
    "p { color: red } ) ]",
  ])("accepts %j", (code) => {
    expect(() => check(code)).not.toThrow();
  });

  it("accepts a file with comments that start with two slashes, which a parser of PostCSS may accept", () => {
    expect(() => check("p { color: red }\n  // don't {\n")).not.toThrow();
  });

  it("does not check other languages", () => {
    expect(() => check("p {", "/app/src/style.scss")).not.toThrow();
  });

  it("accepts nested blocks, and rejects them at the first brace without the last one, whatever is in them", () => {
    const text = fc.constantFrom("color: red;", '"}"', "'{'", "/* } */", "\\}", "url(})", "(a)", "[b]", "é", "\\\n");
    const block = fc.letrec<{ block: string }>((tie) => ({
      block: fc
        .array(fc.oneof({ maxDepth: 4 }, text, tie("block")), { maxLength: 4 })
        .map((parts) => `a { ${parts.join(" ")} }`),
    })).block;
    fc.assert(
      fc.property(block, (code) => {
        expect(() => check(code)).not.toThrow();
        expect(() => check(code.slice(0, -1))).toThrow("This { is not closed");
        expect(() => check(`${code}}`)).toThrow("This } closes nothing");
      }),
    );
  });
});
