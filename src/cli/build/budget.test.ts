import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readBudget, readPackageOptions } from "./package-options.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "tsweb-budget-"));
});
afterEach(() => rmSync(root, { recursive: true }));

function budgetOf(budget: unknown) {
  writeFileSync(join(root, "package.json"), JSON.stringify({ tsweb: { budget } }));
  return readBudget(readPackageOptions(root));
}

describe("the budget in package.json", () => {
  it.each([
    ["20 kB", 20_000],
    ["20kB", 20_000],
    ["7.5 kB", 7500],
    ["900 B", 900],
    ["0 B", 0],
    [1234, 1234],
  ])("accepts the size %j", (script, bytes) => {
    expect(budgetOf({ script }).script?.bytes).toBe(bytes);
  });

  it("limits nothing that it does not name", () => {
    expect(readBudget(undefined)).toEqual({});
    expect(budgetOf(undefined)).toEqual({});
    expect(budgetOf({})).toEqual({});
    expect(budgetOf({ style: "1 kB" })).toEqual({ style: { bytes: 1000, location: "package.json:1:29" } });
  });

  it.each(["20 KB", "20 KiB", "1 MB", "20", "kB", "-1 kB", "1,5 kB", -1, null, true, ["20 kB"], {}])(
    "rejects %j as a size, with its location and the expected form",
    (script) => {
      expect(() => budgetOf({ script })).toThrow(
        `package.json:1:30\n"script" of "budget" is ${JSON.stringify(script)}, which is not a size. Write a number with the unit kB`,
      );
    },
  );

  it("rejects a misspelled member and a value that is not an object, with their locations", () => {
    expect(() => budgetOf({ scripts: "20 kB" })).toThrow(
      'package.json:1:21\n"budget" has the unknown member "scripts". Did you mean "script"? Expected "budget": { "script": "20 kB"',
    );
    expect(() => budgetOf("20 kB")).toThrow('package.json:1:20\n"budget" is "20 kB". Expected "budget": {');
  });
});
