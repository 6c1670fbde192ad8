import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyCharacter } from "#test/any-text";
import type { Coercion, Parameter } from "../protocol/index.ts";
import { coerce, describeExpected, MISMATCH } from "./coerce.ts";

function parameter(type: Coercion, overrides: Partial<Parameter> = {}): Parameter {
  return { name: "x", type, annotation: type, ...overrides };
}

const NEVER_NUMBERS = [
  "",
  " ",
  "\t\n",
  "abc",
  "x1",
  "1x",
  "1 2",
  "--1",
  "+-1",
  "null",
  "true",
  [],
  [1],
  {},
  { a: 1 },
  null,
];

describe("coercion to int", () => {
  it.each<[unknown, number]>([
    [0, 0],
    [-0, 0],
    ["-0", 0],
    [42, 42],
    [3.0, 3],
    ["42", 42],
    [" 42 ", 42],
    ["\t42\n", 42],
    ["-3", -3],
    ["+5", 5],
    ["007", 7],
    [2 ** 53 - 1, 2 ** 53 - 1],
    [-(2 ** 53) + 1, -(2 ** 53) + 1],
    ["9007199254740991", 2 ** 53 - 1],
    ["-9007199254740991", -(2 ** 53) + 1],
    ["0000000000000000000000000000000000000001", 1],
  ])("converts %j to %d", (value, number) => {
    expect(coerce(parameter("int"), value)).toBe(number);
  });

  it.each<unknown>([
    ...NEVER_NUMBERS,
    3.5,
    "3.5",
    "3.0",
    "3.",
    "1e3",
    "0x10",
    "0b1",
    "1_000",
    "1,000",
    "٣",
    "NaN",
    "Infinity",
    NaN,
    Infinity,
    2 ** 53,
    -(2 ** 53),
    "9007199254740992",
    "9007199254740993",
    "-9007199254740992",
    "9".repeat(400),
    true,
    false,
    "1n",
  ])("rejects %j", (value) => {
    expect(coerce(parameter("int"), value)).toBe(MISMATCH);
  });
});

describe("coercion to float", () => {
  it.each<[unknown, number]>([
    [0, 0],
    [-0, -0],
    [1.5, 1.5],
    [2 ** 53, 2 ** 53],
    [1e308, 1e308],
    ["1.5", 1.5],
    [" 1.5 ", 1.5],
    ["+5", 5],
    ["-.5", -0.5],
    [".5", 0.5],
    ["5.", 5],
    ["1e3", 1000],
    ["1E-3", 0.001],
    ["1.e+2", 100],
    ["9007199254740993", 9007199254740992],
  ])("converts %j to %d", (value, number) => {
    expect(coerce(parameter("float"), value)).toBe(number);
  });

  it.each<unknown>([
    ...NEVER_NUMBERS,
    ".",
    "e3",
    "1e",
    "1.2.3",
    "0x10",
    "1e999",
    "-1e999",
    "9".repeat(400),
    "NaN",
    "Infinity",
    "-Infinity",
    NaN,
    Infinity,
    true,
    false,
  ])("rejects %j", (value) => {
    expect(coerce(parameter("float"), value)).toBe(MISMATCH);
  });

  it("rejects a million digits in linear time", () => {
    // With a pattern that matches digits in two ways, this test would take hours.
    for (const text of [`${"1".repeat(1_000_000)}x`, `1.${"1".repeat(1_000_000)}x`, `1e${"1".repeat(1_000_000)}x`]) {
      expect(coerce(parameter("float"), text)).toBe(MISMATCH);
      expect(coerce(parameter("int"), text)).toBe(MISMATCH);
    }
  });
});

describe("coercion to boolean", () => {
  it.each<unknown>([true, 1, "true", "TRUE", "True", "1", "yes", "Yes", "on", " on "])(
    "converts %j to true",
    (value) => {
      expect(coerce(parameter("boolean"), value)).toBe(true);
    },
  );

  it.each<unknown>([false, 0, -0, "false", "FALSE", "0", "no", "NO", "off", "\toff"])(
    "converts %j to false",
    (value) => {
      expect(coerce(parameter("boolean"), value)).toBe(false);
    },
  );

  it.each<unknown>(["", " ", "y", "n", "t", "2", "01", "1.0", 2, -1, 0.5, NaN, null, [], [true], {}, "truefalse"])(
    "rejects %j",
    (value) => {
      expect(coerce(parameter("boolean"), value)).toBe(MISMATCH);
    },
  );
});

describe("coercion to any", () => {
  it.each<unknown>([null, "", 0, "3", [1], { a: 1 }, true])("returns %j unchanged", (value) => {
    expect(coerce(parameter("any"), value)).toBe(value);
  });
});

describe("coercion of unions", () => {
  it("accepts null only for nullable types", () => {
    for (const type of ["int", "float", "boolean"] as const) {
      expect(coerce(parameter(type, { nullable: true }), null)).toBeNull();
      expect(coerce(parameter(type), null)).toBe(MISMATCH);
      expect(coerce(parameter(type, { nullable: true }), "null")).toBe(MISMATCH);
    }
    expect(coerce(parameter("int", { nullable: true }), "7")).toBe(7);
  });

  it("returns literals unchanged and coerces all other values", () => {
    const size = parameter("int", { literals: ["all", "1", 2.5, true] });
    expect(coerce(size, "all")).toBe("all");
    expect(coerce(size, "1")).toBe("1");
    expect(coerce(size, 2.5)).toBe(2.5);
    expect(coerce(size, true)).toBe(true);
    expect(coerce(size, "12")).toBe(12);
    expect(coerce(size, "ALL")).toBe(MISMATCH);
    expect(coerce(size, false)).toBe(MISMATCH);
  });

  it("are described with all their members in errors", () => {
    expect(describeExpected(parameter("int"))).toBe("int");
    expect(describeExpected(parameter("int", { nullable: true, literals: ["all", 2.5] }))).toBe(
      'int or "all" or 2.5 or null',
    );
  });
});

describe("coercion of any JSON", () => {
  const odd = fc.oneof(
    fc.jsonValue({ stringUnit: anyCharacter }),
    fc.double(),
    fc.integer().map(String),
    fc.double().map(String),
    fc.stringMatching(/^\s?[+-]?[0-9]{0,20}\.?[0-9]{0,3}(e[+-]?[0-9]{1,3})?\s?$/),
    fc.constantFrom("true", "FALSE", "yes", "off", "0", "1", "", "__proto__", "constructor"),
  );
  const checks: Readonly<Record<Coercion, (value: unknown) => boolean>> = {
    int: (value) => Number.isSafeInteger(value) && !Object.is(value, -0),
    float: (value) => Number.isFinite(value),
    boolean: (value) => typeof value === "boolean",
    any: () => true,
  };

  it.each(["int", "float", "boolean"] as const)("returns a value of type %s or rejects", (type) => {
    fc.assert(
      fc.property(odd, fc.boolean(), (value, nullable) => {
        const result = coerce(parameter(type, nullable ? { nullable } : {}), value);
        expect(result === MISMATCH || (nullable && result === null) || checks[type](result)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it("accepts every number, as a number and as a string", () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (n) => {
        expect(coerce(parameter("int"), n)).toBe(n + 0 || 0);
        expect(coerce(parameter("int"), String(n))).toBe(n + 0 || 0);
      }),
    );
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (n) => {
        expect(coerce(parameter("float"), n)).toBe(n);
        // String(-0) is "0".
        expect(coerce(parameter("float"), String(n))).toBe(Object.is(n, -0) ? 0 : n);
      }),
    );
  });
});
