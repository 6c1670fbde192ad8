import { describe, expect, it } from "vitest";
import { inMemoryResolver, readTestModule } from "#test/in-memory-modules";
import { neededModules } from "./needed-modules.ts";

const needed = (code: string) => neededModules(readTestModule("src/a.tsx", code), inMemoryResolver({}));

describe("tsweb/styles", () => {
  it.each([
    "<p style={{ width: 4 }} />",
    "<p style={{ width: n }} />",
    "<p style={wide ? { width: 4 } : undefined} />",
    "<p style={base} />",
    "<Box style={{ ...base }} />",
    'const attributes = { "style": { width: n } };',
  ])("finds the style of %s", async (code) => {
    expect(await needed(code)).toContain("tsweb/styles");
  });

  it.each([
    '<p style="width: 4px" />',
    `<p style={\`width: \${n}px\`} />`,
    '<p style={{ width: "4px", color: a ? "red" : "blue", "--hue": hue }} />',
    'new Intl.NumberFormat("de", { style: "currency" });',
    "<style>{css}</style>",
    "<p title={4} />",
  ])("finds no number in %s", async (code) => {
    expect(await needed(code)).not.toContain("tsweb/styles");
  });
});

describe("tsweb/selects", () => {
  it.each([
    '<select defaultValue="a" />',
    "<form><select name={name} multiple defaultValue={values}>{options}</select></form>",
    "<select {...props} />",
    'h("select", { defaultValue: "a" });',
    "createElement('select', props);",
  ])("finds the element of %s", async (code) => {
    expect(await needed(code)).toContain("tsweb/selects");
  });

  it.each([
    "<select value={value} />",
    '<input defaultValue="a" />',
    "<Select defaultValue={value} />",
    "<Ui.select {...props} />",
    'document.createElement("select");',
    'const attributes = { defaultValue: "a" };',
  ])("finds none in %s", async (code) => {
    expect(await needed(code)).not.toContain("tsweb/selects");
  });
});
