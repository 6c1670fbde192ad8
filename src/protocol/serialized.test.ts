/**
 * Compares the type `Serialized` with the output of `toJson`: the serialised values of a row must match the guard that
 * the row was compiled with.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RESULTS, ROWS } from "#test/serialized-rows";
import type { Equal } from "#test/type-equality";
import { isObject } from "#test/type-guards";
import { toJson } from "./serialize.ts";
import type { Serialized } from "./serialized.ts";

function roundTrip(value: unknown): unknown {
  return JSON.parse(toJson(value));
}

describe("the type Serialized", () => {
  it.each([...ROWS, ...RESULTS.map((row) => ({ ...row, name: `${row.name}, as a result` }))])(
    "of $name matches its serialised values",
    ({ values, isSerialized: isSent }) => {
      fc.assert(fc.property(values, (value) => isSent(roundTrip(value))));
    },
  );

  it("matches the serialised value in nested arrays, objects, maps and sets", { timeout: 60_000 }, () => {
    type GeneratedValue = readonly [value: unknown, isSent: (value: unknown) => boolean];
    const leaf = fc.oneof(...ROWS.map((row) => row.values.map((value): GeneratedValue => [value, row.isSerialized])));
    const nested = fc.letrec<{ any: GeneratedValue }>((tie) => ({
      any: fc.oneof(
        { depthSize: "xsmall", withCrossShrink: true },
        leaf,
        fc
          .array(tie("any"), { maxLength: 4 })
          .map(
            (items): GeneratedValue => [
              items.map(([value]) => value),
              (value) => Array.isArray(value) && items.every(([, isSent], index) => isSent(value[index])),
            ],
          ),
        fc
          .uniqueArray(tie("any"), { maxLength: 4, selector: ([value]) => value })
          .map(
            (items): GeneratedValue => [
              new Set(items.map(([value]) => value)),
              (value) => Array.isArray(value) && items.every(([, isSent], index) => isSent(value[index])),
            ],
          ),
        fc
          .dictionary(fc.constantFrom("a", "b", "constructor", "then"), tie("any"))
          .map(
            (members): GeneratedValue => [
              new Map(Object.entries(members).map(([name, [value]]) => [name, value])),
              (value) =>
                isObject(value) &&
                Object.entries(members).every(([name, [, isSent]]) => isSent(Reflect.get(value, name))),
            ],
          ),
        fc
          .dictionary(fc.constantFrom("a", "b", "x"), tie("any"))
          .map(
            (members): GeneratedValue => [
              Object.fromEntries(Object.entries(members).map(([name, [value]]) => [name, value])),
              (value) =>
                isObject(value) &&
                Object.entries(members).every(([name, [, isSent]]) => isSent(Reflect.get(value, name))),
            ],
          ),
      ),
    }));
    fc.assert(
      fc.property(nested.any, ([value, isSent]) => isSent(roundTrip(value))),
      { numRuns: 200 },
    );
  });

  it("is never for values that toJson rejects", () => {
    const stream = async function* () {};
    const steps = function* () {};
    const rejected = [
      rejectedValue(Promise.resolve(1)),
      rejectedValue(stream()),
      rejectedValue(steps()),
      rejectedValue([1].values()),
      rejectedValue(new Map([[1, 2]]).entries()),
      rejectedValue(new ReadableStream()),
      rejectedValue({ next: () => 1, [Symbol.iterator]: () => 1 }),
    ];
    for (const value of rejected) {
      expect(() => toJson(value)).toThrow("the value cannot be sent: it is a");
      expect(() => toJson({ in: [value] })).toThrow("in[0] cannot be sent: it is a");
    }
  });
});

/** Returns the value. It compiles only for types whose `Serialized` is never. */
function rejectedValue<T>(value: Equal<Serialized<T>, never> extends true ? T : "it can be sent"): unknown {
  return value;
}
