import { describe, expect, test } from "vitest";
import { compileErrorOf, inMemoryResolver, parseMarkedCode, readTestModule } from "#test/in-memory-modules";
import { checkStyleSheetImports } from "./style-sheet-imports.ts";

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
