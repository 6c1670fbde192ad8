import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Parameter, Signature } from "../../protocol/index.ts";
import { argumentsText, parseArguments } from "./query-arguments.ts";

const parameter = (name: string, changes: Partial<Parameter> = {}): Parameter => ({
  name,
  type: "any",
  annotation: "",
  ...changes,
});
const signatureOf = (...params: readonly Parameter[]): Signature => ({
  name: "cards",
  file: "a.server.ts",
  line: 1,
  params,
});
const two = signatureOf(parameter("board"), parameter("limit", { type: "int", optional: true }));
const one = signatureOf(parameter("value"));
const keyed: Signature = { ...two, keyed: true };

describe("argumentsText", () => {
  it("is the arguments by the names of their parameters, as JSON with sorted keys", () => {
    const text = argumentsText(signatureOf(parameter("b"), parameter("a")), [{ z: 1, a: [{ y: 1, x: null }] }, "1"]);
    expect(text).toBe('{"a":"1","b":{"a":[{"x":null,"y":1}],"z":1}}');
  });

  it.each([
    [["1"], '{"board":"1"}'],
    [["1", 5], '{"board":"1","limit":5}'],
    [["1", "5"], '{"board":"1","limit":5}'],
    [["1", undefined], '{"board":"1"}'],
  ])("of %j is %j", (args, text) => {
    expect(argumentsText(two, args)).toBe(text);
  });

  it("of a destructured object is the same as that of its keys", () => {
    expect(argumentsText(keyed, [{ limit: 5, board: "1" }])).toBe('{"board":"1","limit":5}');
    expect(argumentsText({ ...keyed, params: two.params.slice(1) }, [])).toBe("{}");
  });

  it("does not depend on the order of keys, and is read back as it was", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        fc.pre(!JSON.stringify(value).includes("__proto__"));
        const text = argumentsText(one, [value]);
        expect(argumentsText(one, [reversed(value)])).toBe(text);
        expect(parseArguments(one, text)).toEqual(JSON.parse(JSON.stringify([value])));
      }),
    );
  });

  it.each([
    ["a Date", new Date(0), "value is of type Date"],
    ["a Map", new Map(), "value is of type Map"],
    ["an instance", new (class Card {})(), "value is of type Card"],
    ["a function", () => 1, "value is of type function"],
    ["a symbol", Symbol("a"), "value is of type symbol"],
    ["a bigint", 1n, "value is of type bigint"],
    ["NaN", Number.NaN, "value is NaN"],
    ["an infinite number", Number.POSITIVE_INFINITY, "value is Infinity"],
    ["undefined in a list", [1, undefined], "value[1] is undefined"],
    ["a hole in a list", new Array(1), "value[0] is undefined"],
    ["a Date inside", { a: [{ b: new Date(0) }] }, "value.a[0].b is of type Date"],
    ["a promise", Promise.resolve("1"), "value is of type Promise"],
  ])("rejects %s, which is not the same after JSON", (_, value, message) => {
    expect(() => argumentsText(one, [value])).toThrow(
      `cards.live: ${message}, and arguments of a query must be plain JSON`,
    );
  });

  it("rejects a key named __proto__, which would set a prototype where code copies keys", () => {
    expect(() => argumentsText(one, [JSON.parse('{"a":{"__proto__":{"admin":true}}}')])).toThrow(
      "cards.live: a key named __proto__ is not allowed.",
    );
  });

  it.each([
    { depth: 63, accepted: true },
    { depth: 64, accepted: true },
    { depth: 65, accepted: false },
  ])("accepts a value that nests $depth levels: $accepted", ({ depth, accepted }) => {
    let value: unknown = 1;
    for (let level = 0; level < depth; level++) value = [value];
    if (accepted) expect(argumentsText(one, [value])).toContain("[[");
    else expect(() => argumentsText(one, [value])).toThrow(/nests deeper than 64 levels/);
  });

  it("rejects a cycle", () => {
    const cycle: unknown[] = [];
    cycle.push(cycle);
    expect(() => argumentsText(one, [cycle])).toThrow(/nests deeper than 64 levels/);
  });

  it.each([
    [two, ["1", 2, 3], "cards.live: 3 arguments were passed; cards takes at most 2."],
    [keyed, [{ board: "1" }, 2], "cards.live: 2 arguments were passed; cards takes at most 1."],
    [keyed, ["1"], "cards.live: the argument is of type string, and cards takes an object."],
    [keyed, [null], "cards.live: board is missing: cards({ board, limit? })."],
    [keyed, [{ board: "1", color: 1 }], 'cards.live: cards has no parameter "color"; it takes board, limit'],
    [two, [], "cards.live: board is missing: cards(board, limit?)."],
    [two, ["1", 1.5], "cards.live: limit: expected int, got 1.5"],
  ])("rejects arguments that do not match the parameters", (signature, args, message) => {
    expect(() => argumentsText(signature, args)).toThrow(new TypeError(message));
  });
});

describe("parseArguments", () => {
  it("rejects a text that does not match the signature, as of an earlier build without hashes", () => {
    expect(() => parseArguments(two, '{"limit":"many","board":1}')).toThrow("limit: expected int");
    expect(() => parseArguments(two, '{"team":1}')).toThrow('cards has no parameter "team"');
  });

  it("returns no member of Object.prototype for an argument that is left out", () => {
    const signature = signatureOf(parameter("constructor", { optional: true }));
    expect(parseArguments(signature, "{}")).toEqual([]);
  });
});

/** Returns a JSON value whose objects have their keys in the opposite order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, member]) => [key, reversed(member)]),
  );
}
