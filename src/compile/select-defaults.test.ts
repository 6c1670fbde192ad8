import { parseAst } from "vite";
import { describe, expect, it } from "vitest";
import { hasSelectDefaults } from "./select-defaults.ts";

const has = (code: string) => hasSelectDefaults(parseAst(code, { lang: "tsx" }));

describe("hasSelectDefaults", () => {
  it.each([
    '<select defaultValue="a" />',
    "<form><select name={name} multiple defaultValue={values}>{options}</select></form>",
    "<select {...props} />",
    'h("select", { defaultValue: "a" });',
    "createElement('select', props);",
  ])("finds the element of %s", (code) => {
    expect(has(code)).toBe(true);
  });

  it.each([
    "<select value={value} />",
    '<input defaultValue="a" />',
    "<Select defaultValue={value} />",
    "<Ui.select {...props} />",
    'document.createElement("select");',
    'const attributes = { defaultValue: "a" };',
  ])("finds none in %s", (code) => {
    expect(has(code)).toBe(false);
  });
});
