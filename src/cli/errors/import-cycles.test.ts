import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { importCycleAdvice } from "./stack-frames.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "tsweb-cycles-")));
const FILES = {
  "src/view.tsx": 'import { Row } from "./row";\nexport const label = "a";',
  "src/row.tsx": 'import {\n  upper,\n} from "./text.js";\nexport const Row = upper();',
  "src/text.ts": 'import { label } from "./view.tsx";\nexport const upper = () => label.toUpperCase();',
  "src/types.ts": 'import type { Row } from "./view.tsx";\n// import "./view.tsx"\nexport const a = b.c;',
};

beforeAll(() => {
  mkdirSync(join(root, "src"));
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(root, name), text);
});
afterAll(() => rmSync(root, { recursive: true }));

const at = (file: string, name = "eval") => `    at ${name} (${join(root, file)}:3:18)`;
const MISSING = new TypeError("Cannot read properties of undefined (reading 'toUpperCase')");

it("names the modules that import each other, also over others", () => {
  const advice = importCycleAdvice(MISSING, [at("src/row.tsx"), at("src/view.tsx", "async eval")], root);
  expect(advice).toContain("These modules import each other: src/row.tsx → src/text.ts → src/view.tsx → src/row.tsx.");
  expect(advice).toContain("Move what both use into a module of its own");
  const noFunction = new TypeError("label is not a function");
  expect(importCycleAdvice(noFunction, [at("src/text.ts"), at("src/row.tsx"), at("src/view.tsx")], root)).toContain(
    "src/text.ts → src/view.tsx → src/text.ts",
  );
});

it.each([
  ["the error is thrown in a function", MISSING, [at("src/row.tsx", "upper"), at("src/view.tsx")]],
  ["the module imports none of its importers", MISSING, [at("src/types.ts"), at("src/view.tsx")]],
  ["the module has no importers", MISSING, [at("src/row.tsx")]],
  ["there are no frames", MISSING, []],
  ["the error is another one", new Error("undefined"), [at("src/row.tsx"), at("src/view.tsx")]],
  ["the error has another reason", new TypeError("Invalid URL"), [at("src/row.tsx"), at("src/view.tsx")]],
])("says nothing if %s", (_, error, frames) => {
  expect(importCycleAdvice(error, frames, root)).toBe("");
});
