import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkClaims } from "./claims.ts";

/** Calls `checkClaims` without narrowing the type of its argument. */
const check = (claims: unknown): void => checkClaims(claims, "session.login");

describe("checkClaims", () => {
  it.each([
    [{}],
    [Object.create(null)],
    [{ name: "Ada" }],
    [{ roles: ["admin", "editor"] }],
    [{ n: 0, m: -1.5, big: 1e300, yes: true, no: false, none: null }],
    [{ nested: { list: [{ deep: [[]] }] } }],
    [{ left_out: undefined, nested: { also: undefined } }],
    [{ constructor: "an ordinary word", prototype: 1, toString: "x" }],
    [{ Sub: "not reserved in this case", SID: 1 }],
    [{ nested: { sub: "reserved at the top level only", sid: 1, iat: 2, exp: 3 } }],
    [{ "": "an empty name" }],
    [{ text: "\u0000\u2028\ud800 é 🔑" }],
  ])("accepts the claims %j", (claims) => {
    expect(() => check(claims)).not.toThrow();
  });

  it.each(["sub", "sid", "iat", "exp", "rev_pos"])("refuses a claim named %s, whatever its value", (name) => {
    for (const value of ["x", 1, null, undefined]) {
      expect(() => check({ [name]: value })).toThrow(`a claim cannot be named "${name}"`);
    }
  });

  it("refuses __proto__ as a claim, and inside a claim [REQUEST-82]", () => {
    expect(() => check(JSON.parse('{"__proto__":{"roles":["admin"]}}'))).toThrow("__proto__");
    expect(() => check(JSON.parse('{"a":[{"b":{"__proto__":1}}]}'))).toThrow('claims.a[0].b has a field "__proto__"');
  });

  it.each([
    ["null", null],
    ["undefined", undefined],
    ["a string", "name"],
    ["a number", 1],
    ["an array", ["admin"]],
    ["a function", () => ({})],
    ["a Date", new Date()],
    ["a Map", new Map([["name", "Ada"]])],
    ["an instance", new (class Ada {})()],
    ["an object that inherits claims", Object.create({ roles: ["admin"] })],
    ["an object with toJSON", { toJSON: () => ({ sub: "root" }) }],
  ])("refuses %s instead of a claims object", (_what, claims) => {
    expect(() => check(claims)).toThrow(TypeError);
    expect(() => check(claims)).toThrow("must be a plain object");
  });

  it.each([
    ["a Date", new Date(0), "an instance of a class"],
    ["a Map", new Map(), "an instance of a class"],
    ["a Set", new Set(["admin"]), "an instance of a class"],
    ["bytes", Uint8Array.of(1), "an instance of a class"],
    ["a URL", new URL("https://a.example"), "an instance of a class"],
    ["a String object", Object("text"), "an instance of a class"],
    ["a promise", Promise.resolve(1), "an instance of a class"],
    ["an object with toJSON", { toJSON: () => "x" }, "an instance of a class"],
    ["a function", () => 1, "type function"],
    ["a symbol", Symbol("x"), "type symbol"],
    ["a bigint", 1n, "type bigint"],
    ["NaN", Number.NaN, "is NaN"],
    ["infinity", Number.POSITIVE_INFINITY, "is Infinity"],
    ["negative infinity", Number.NEGATIVE_INFINITY, "is -Infinity"],
    ["an array with undefined", [undefined], "type undefined"],
    ["an array with a hole", new Array(1), "type undefined"],
  ])("refuses %s as a claim and deep inside one, and names the path", (_what, value, reason) => {
    if (!Array.isArray(value)) expect(() => check({ a: value })).toThrow("session.login: claims.a ");
    for (const claims of [{ a: value }, { a: [1, value] }, { a: { b: [{ c: value }] } }]) {
      expect(() => check(claims)).toThrow(TypeError);
      expect(() => check(claims)).toThrow(reason);
    }
    expect(() => check({ a: { b: [{ c: value }] } })).toThrow("claims.a.b[0].c");
  });

  it("refuses claims that contain themselves", () => {
    const object: Record<string, unknown> = {};
    object.self = object;
    expect(() => check(object)).toThrow("contains itself");
    const list: unknown[] = [];
    list.push(list);
    expect(() => check({ list })).toThrow("contains itself");
  });

  it("refuses claims nested over 32 levels deep", () => {
    const nest = (depth: number) => JSON.parse(`${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`);
    expect(() => check(nest(32))).not.toThrow();
    expect(() => check(nest(33))).toThrow("nested over 32 levels deep");
    expect(() => check(nest(5000))).toThrow("nested over 32 levels deep");
  });

  it("puts no value of a claim into a message", () => {
    const secret = "a-secret-value";
    for (const claims of [{ a: [secret, undefined] }, { sub: secret }, [secret], secret]) {
      let message = "";
      try {
        check(claims);
      } catch (error) {
        message = String(error);
      }
      expect(message).toContain("session.login");
      expect(message).not.toContain(secret);
    }
  });

  it("throws a TypeError, or accepts claims that JSON represents without loss", () => {
    const anything = fc.anything({
      withDate: true,
      withMap: true,
      withSet: true,
      withBigInt: true,
      withSparseArray: true,
    });
    fc.assert(
      fc.property(fc.oneof(anything, fc.dictionary(fc.string(), anything)), (claims) => {
        try {
          check(claims);
        } catch (error) {
          expect(error).toBeInstanceOf(TypeError);
          return;
        }
        const parsed = JSON.parse(JSON.stringify(claims));
        expect(JSON.stringify(parsed)).toBe(JSON.stringify(claims));
        expect(parsed).toEqual(withoutNegativeZero(claims));
      }),
    );
  });
});

/** Returns a copy with 0 for −0, which JSON writes as 0. */
function withoutNegativeZero(value: unknown): unknown {
  return Object.is(value, -0)
    ? 0
    : Array.isArray(value)
      ? value.map(withoutNegativeZero)
      : typeof value === "object" && value !== null
        ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutNegativeZero(item)]))
        : value;
}
