import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { compileErrorOf, parseMarkedCode } from "#test/in-memory-modules";
import { checkStyleSheetFiles } from "./style-sheets.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "tsweb-sheets-")));
mkdirSync(join(root, "src/img"), { recursive: true });
for (const file of ["src/other.css", "src/img/logo.png", "src/img/a b.png"]) writeFileSync(join(root, file), "");
afterAll(() => rmSync(root, { recursive: true }));

const check = (code: string, file = "src/style.css") =>
  checkStyleSheetFiles(
    { file: join(root, file), code },
    {
      root,
      read: async () => undefined,
      resolve: async (path) => (path.includes("virtual") ? "\0virtual" : undefined),
    },
  );

describe("checkStyleSheetFiles", () => {
  it.each([
    [
      'p { color: red }\np { background: url("«./img/lego.png") }',
      '"./img/lego.png" does not exist: there is no file src/img/lego.png. Did you mean "./img/logo.png"?',
    ],
    [
      "p { background: url(«./img/missing.svg?inline) }",
      "there is no file src/img/missing.svg. Correct the path, or create the file.",
    ],
    ['@import "«./othr.css";', 'Did you mean "./other.css"?'],
    ["@import url('«../theme.css') layer(theme);", "there is no file theme.css."],
  ])("rejects %j at the path", async (marked, message) => {
    const { code, location } = parseMarkedCode(marked);
    const error = await compileErrorOf(() => check(code));
    expect(error.message).toContain(message);
    expect(error.loc).toMatchObject(location ?? {});
  });

  it.each([
    'p { background: url("./img/logo.png") }',
    "p { background: url(./img/logo.png?url#a) }",
    'p { background: url("./img/a%20b.png") }',
    '@import "./other.css" screen;',
    '@import "tailwindcss";',
    'p { background: url("/missing.png") }',
    "p { background: url(https://shop.example/a.png), url(data:image/png;base64,AA), url(#a) }",
    'p { background: url("./virtual.png") }',
    "p { background: url(missing.png) }",
  ])("accepts %j", async (code) => {
    await expect(check(code)).resolves.toBeUndefined();
  });

  it("does not check Sass, whose paths can be computed", async () => {
    await expect(check('p { background: url("./#{$name}.png") }', "src/style.scss")).resolves.toBeUndefined();
  });
});
