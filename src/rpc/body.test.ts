import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RPCError } from "../errors.ts";
import { MAX_DEPTH, readArguments } from "./arguments.ts";

/** Returns a body whose `args` nest this deep, `args` itself included. */
function nested(depth: number, [open, close]: readonly [string, string]): string {
  return `{"args":{"a":${open.repeat(depth - 1)}1${close.repeat(depth - 1)}}}`;
}

describe("readArguments", () => {
  it("returns the arguments by name", () => {
    expect(readArguments('{"args":{"a":1,"b":[null,{"c":"d"}]}}')).toEqual({ a: 1, b: [null, { c: "d" }] });
    expect(readArguments(' { "args" : { } } ')).toEqual({});
  });

  it.each(["", " ", "{", "{'args':{}}", '{"args":{}}x', "undefined", "NaN", '{"args":{},}', "\u0000"])(
    "rejects text that is not JSON: %j",
    (text) => {
      expect(() => readArguments(text)).toThrow(new RPCError("validation_error", "The body is not JSON."));
    },
  );

  it.each([
    "null",
    "1",
    '"args"',
    "[]",
    "{}",
    '[{"args":{}}]',
    '{"args":null}',
    '{"args":[]}',
    '{"args":1}',
    '{"args":"{}"}',
    '{"Args":{}}',
    '{"__proto__":{"args":{}}}',
  ])("rejects a body without an args object: %s", (text) => {
    expect(() => readArguments(text)).toThrow(/"args" object/);
  });

  it.each([
    ["arrays", ["[", "]"]],
    ["objects", ['{"a":', "}"]],
  ] as const)("accepts %s nested 64 levels deep and rejects 65 levels [REQUEST-10]", (_, brackets) => {
    expect(readArguments(nested(MAX_DEPTH, brackets))).toHaveProperty("a");
    expect(() => readArguments(nested(MAX_DEPTH + 1, brackets))).toThrow("The arguments nest deeper than 64 levels.");
  });

  it("rejects nesting so deep that a recursive reader would overflow the stack", () => {
    expect(() => readArguments(nested(100_000, ["[", "]"]))).toThrow("The arguments nest deeper than 64 levels.");
  });

  it.each(['{"args":{"__proto__":{"a":1}}}', '{"args":{"a":[{"__proto__":1}]}}', '{"args":{"\\u005f_proto__":1}}'])(
    "rejects a key named __proto__: %s [REQUEST-80]",
    (text) => {
      expect(() => readArguments(text)).toThrow(/__proto__/);
    },
  );

  it("accepts __proto__ as a value, and constructor and toString as keys [REQUEST-81]", () => {
    expect(readArguments('{"args":{"a":"__proto__","constructor":{"prototype":1},"toString":2}}')).toEqual({
      a: "__proto__",
      constructor: { prototype: 1 },
      toString: 2,
    });
  });

  it("returns any arguments that JSON can contain, and throws only validation_error", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (args) => {
        const text = JSON.stringify({ args });
        if (text.includes("__proto__")) return;
        expect(readArguments(text)).toEqual(JSON.parse(text).args);
      }),
    );
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        try {
          readArguments(text);
        } catch (error) {
          expect(error).toMatchObject({ code: "validation_error" });
        }
      }),
    );
  });
});
