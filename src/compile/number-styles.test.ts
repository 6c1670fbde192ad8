import { parseAst } from "vite";
import { describe, expect, it } from "vitest";
import { hasNumberStyles } from "./number-styles.ts";

const has = (code: string) => hasNumberStyles(parseAst(code, { lang: "tsx" }));

describe("hasNumberStyles", () => {
  it.each([
    "<p style={{ width: 4 }} />",
    "<p style={{ width: n }} />",
    "<p style={wide ? { width: 4 } : undefined} />",
    "<p style={base} />",
    "<Box style={{ ...base }} />",
    'const attributes = { "style": { width: n } };',
  ])("finds the style of %s", (code) => {
    expect(has(code)).toBe(true);
  });

  it.each([
    '<p style="width: 4px" />',
    `<p style={\`width: \${n}px\`} />`,
    '<p style={{ width: "4px", color: a ? "red" : "blue", "--hue": hue }} />',
    'new Intl.NumberFormat("de", { style: "currency" });',
    "<style>{css}</style>",
    "<p title={4} />",
  ])("finds no number in %s", (code) => {
    expect(has(code)).toBe(false);
  });
});
