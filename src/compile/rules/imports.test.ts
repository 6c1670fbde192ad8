import { describe, expect, it } from "vitest";
import { compileErrorAt, inMemoryResolver, readTestModule } from "#test/in-memory-modules";
import { checkImportedNames } from "./imports.ts";

const FILES = {
  "src/guests.ts":
    "export const everyone = 1;\nexport function sign() {}\nexport { a as b } from './other.ts';\nexport type Guest = string;\nconst hidden = 1;",
  "src/main.ts": "export default 1;\nexport const x = 1;",
  "src/star.ts": "export * from 'library';\nexport const x = 1;",
  "src/list.server.ts": "import { server } from 'tsweb';\nexport const all = server(() => 1);",
  "src/types.ts": "export type * from './guests.ts';\nexport const x = 1;",
  "src/common.js": "module.exports = { a: 1 };",
  "src/patterns.ts":
    "export const { a, b: [c], ...rest } = f();\nexport enum Color { red }\nexport namespace N {}\nexport class K {}",
};

const check = (code: string, file = "src/page.tsx") =>
  checkImportedNames(readTestModule(file, code), inMemoryResolver(FILES));

describe("checkImportedNames", () => {
  it.each([
    [
      'import { «everione } from "./guests.ts";\neverione;',
      'src/guests.ts exports no "everione". Did you mean "everyone"?',
    ],
    [
      'import { sign, «save as s } from "./guests.ts";\ns();',
      'src/guests.ts exports no "save". It exports: everyone, sign, b, Guest.',
    ],
    [
      'import { «hidden } from "./guests.ts";\nf(hidden);',
      '"hidden" of src/guests.ts is not exported. Write `export` before its declaration.',
    ],
    [
      'import «guests from "./guests.ts";\nguests.sign();',
      "src/guests.ts has no default export. Import by name: `import { everyone } from …`. It exports: everyone, sign, b, Guest.",
    ],
    [
      'import «list from "./list.server.ts";\nnew App({ modules: [list] });',
      "src/list.server.ts has no default export. Import by name: `import { all } from …`, or for `modules` of App: `import * as list from …`. It exports: all.",
    ],
    ['import { «Sign } from "./guests.ts";\nexport const p = <Sign />;', 'Did you mean "sign"?'],
    [
      'import { «sigm } from "./guests.ts";\nexport const p = <p title={sigm as string}>{sigm!}</p>;',
      'Did you mean "sign"?',
    ],
    ['import { «siga } from "~/guests";\nclass A { constructor(private x = siga) {} }', 'Did you mean "sign"?'],
  ])("rejects %j", async (code, message) => {
    const error = await compileErrorAt("src/page.tsx", code, check);
    expect(error.message).toContain(message);
  });

  it.each([
    'import { everyone, sign as s, b, type Guest } from "./guests.ts";\ns(everyone, b);',
    'import main, { x } from "./main.ts";\nmain(x);',
    'import * as guests from "./guests.ts";\nguests.missing;',
    'import "./guests.ts";',
    'import type { Missing } from "./guests.ts";\nlet a: Missing;',
    'import { type Missing } from "./guests.ts";\nlet a: Missing;',
    'import { Missing } from "./guests.ts";\nlet a: Missing; function f(a: Missing.B): a is Missing {}\nf<Missing>(1 as Missing);',
    'import { Missing } from "./guests.ts";\nexport { Missing };',
    'import { y } from "./star.ts";\ny();',
    'import { Guest } from "./types.ts";\nGuest;',
    'import { a } from "./common.js";\na();',
    'import common from "./common.js";\ncommon();',
    'import { a, c, rest, Color, N, K } from "./patterns.ts";\n[a, c, rest, Color, N, K];',
    'import { anything } from "./missing.ts";\nanything;',
    'import text from "./guests.ts?raw";\ntext;',
    'import { anything } from "library";\nanything;',
  ])("accepts %j", async (code) => {
    await expect(check(code)).resolves.toBeUndefined();
  });
});
