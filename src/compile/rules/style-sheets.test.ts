import { describe, expect, test } from "vitest";
import { compileErrorOf, inMemoryResolver, parseMarkedCode, readTestModule } from "#test/in-memory-modules";
import { checkStyleSheetImports, cssModuleWarnings } from "./style-sheets.ts";

const FILES = { "src/style.css": "", "src/a.module.css": "", "src/theme.css.ts": "export default {};" };

const check = (code: string) =>
  checkStyleSheetImports(readTestModule("src/a.tsx", parseMarkedCode(code).code), inMemoryResolver(FILES));

describe("a member of the default import of a style sheet", () => {
  test.each([
    'import «styles from "./style.css";\nexport const A = () => <p class={styles.main} />;',
    'import «styles from "./style.css";\nexport const A = () => <p class={styles["a-b"]} />;',
  ])("is rejected with the name of a CSS module: %s", async (code) => {
    const error = await compileErrorOf(() => check(code));
    expect(error.message).toBe(
      "src/style.css is a plain style sheet, so `styles` is undefined. To import its class names, rename it to " +
        'style.module.css. Otherwise write `import "./style.css"` and the class names as text: `class="main"`.',
    );
    expect(error.loc).toMatchObject(parseMarkedCode(code).location ?? {});
  });

  test.each([
    'import styles from "./a.module.css";\nf(styles.main);',
    'import styles from "./style.css?inline";\nf(styles.length);',
    'import theme from "./theme.css";\nf(theme.main);',
    'import styles from "./style.css";\nf(styles, styles?.main);',
    'import styles from "./style.css";\nconst f = (styles) => styles.main;',
    'import "./style.css";\nf(styles.main);',
    'import * as styles from "./style.css";\nf(styles.main);',
    'import styles from "library/style.css";\nf(styles.main);',
    'import styles from "./style.scss";\nf(styles.main);',
  ])("is accepted elsewhere: %s", async (code) => {
    await expect(check(code)).resolves.toBeUndefined();
  });
});

const CARD = ".card { color: red } .card-title:hover > .Icon_2 { animation: spin 1s } @keyframes fade {} /* .old */";

function warningsOf(code: string, css = CARD, sheet = "src/card.module.css") {
  const resolver = inMemoryResolver({ [sheet]: "" });
  const text = `import styles from "./${sheet.slice(4)}";\n${code}`;
  return cssModuleWarnings(readTestModule("src/a.tsx", text), resolver, () => css);
}

test("a misspelled class of a CSS module gets a warning with the right one", async () => {
  expect(await warningsOf("export const A = () => <p class={styles.crad} id={styles.crad} />;")).toEqual([
    "src/a.tsx:2 reads styles.crad, which is undefined: src/card.module.css has no class of this name. Did you mean styles.card?",
  ]);
});

test.each(['f(styles["other-name"]);', "f(styles.old);", "f(styles?.missing);"])(
  "a class that a CSS module does not have gets a warning: %s",
  async (code) => {
    expect(await warningsOf(code)).toEqual([expect.stringMatching(/^src\/a\.tsx:2 reads styles.* Add the class \./)]);
  },
);

test.each<[string, string?, string?]>([
  ["f(styles.card, styles['card-title'], styles.cardTitle, styles.Icon_2, styles.icon2, styles.fade, styles.spin);"],
  ["f(styles[name], styles);"],
  ["f(styles.toString());"],
  ["f(styles.missing ?? '');"],
  ["styles.missing = '';"],
  ["const g = (styles) => styles.missing;"],
  ["f(styles.missing);", '@import "./other.css"; .card {}'],
  ["f(styles.missing);", ".card { composes: base from './base.module.css' }"],
  ["f(styles.missing);", '@value missing from "./colors.css";'],
  ["f(styles.cardBody);", ".card { &-body { color: red } }"],
  ["f(styles.missing);", "@each $name in a, b { .$(name) {} }"],
  ["f(styles.missing);", ":export { missing: red }"],
  ["f(styles.missing);", CARD, "src/card.css"],
  ["f(styles.missing);", CARD, "src/card.module.scss"],
])("is accepted without a warning: %s %s", async (code, css, sheet) => {
  expect(await warningsOf(code, css, sheet)).toEqual([]);
});
