import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkClaims } from "./claims.ts";

/** A function of its own: an assertion function has to be called by a name with a type. */
const check = (claims: unknown): void => checkClaims(claims);

describe("checkClaims", () => {
  it.each([
    [{}],
    [Object.create(null)],
    [{ name: "Ada" }],
    [{ roles: ["admin", "editor"] }],
    [{ n: 0, m: -1.5, big: 1e300, yes: true, no: false, none: null }],
    [{ nested: { list: [{ deep: [[]] }] } }],
    [{ left_out: undefined, nested: { also: undefined } }],
    [{ constructor: "a word like another", prototype: 1, toString: "x" }],
    [{ Sub: "another name", SID: 1 }],
    [{ nested: { sub: "inside is free", sid: 1, iat: 2, exp: 3 } }],
    [{ "": "an empty name" }],
    [{ text: "\u0000\u2028\ud800 é 🔑" }],
  ])("takes %j", (claims) => {
    expect(() => check(claims)).not.toThrow();
  });

  it.each(["sub", "sid", "iat", "exp"])("refuses a claim named %s, whatever its value", (name) => {
    for (const value of ["x", 1, null, undefined]) {
      expect(() => check({ [name]: value })).toThrow(`a claim cannot be named "${name}"`);
    }
  });

  it("refuses __proto__ as a claim, and inside of one", () => {
    expect(() => check(JSON.parse('{"__proto__":{"roles":["admin"]}}'))).toThrow("__proto__");
    expect(() => check(JSON.parse('{"a":[{"b":{"__proto__":1}}]}'))).toThrow('claims.a[0].b has a field "__proto__"');
  });

  it.each([
    ["null", null],
    ["nothing", undefined],
    ["a string", "name"],
    ["a number", 1],
    ["a list", ["admin"]],
    ["a function", () => ({})],
    ["a Date", new Date()],
    ["a Map", new Map([["name", "Ada"]])],
    ["an instance", new (class Ada {})()],
    ["an object with claims behind it", Object.create({ roles: ["admin"] })],
    ["an object that writes itself", { toJSON: () => ({ sub: "root" }) }],
  ])("refuses %s in the place of claims", (_what, claims) => {
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
    ["an object that writes itself", { toJSON: () => "x" }, "an instance of a class"],
    ["a function", () => 1, "type function"],
    ["a symbol", Symbol("x"), "type symbol"],
    ["a bigint", 1n, "type bigint"],
    ["NaN", Number.NaN, "is NaN"],
    ["infinity", Number.POSITIVE_INFINITY, "is Infinity"],
    ["less than everything", Number.NEGATIVE_INFINITY, "is -Infinity"],
    ["a list with nothing in it", [undefined], "type undefined"],
    ["a list with a hole", new Array(1), "type undefined"],
  ])("refuses %s as a claim, and deep inside of one, and says where", (_what, value, why) => {
    if (!Array.isArray(value)) expect(() => check({ a: value })).toThrow("session.login: claims.a ");
    for (const claims of [{ a: value }, { a: [1, value] }, { a: { b: [{ c: value }] } }]) {
      expect(() => check(claims)).toThrow(TypeError);
      expect(() => check(claims)).toThrow(why);
    }
    expect(() => check({ a: { b: [{ c: value }] } })).toThrow("claims.a.b[0].c");
  });

  it("ends at a cycle", () => {
    const object: Record<string, unknown> = {};
    object.self = object;
    expect(() => check(object)).toThrow("holds itself");
    const list: unknown[] = [];
    list.push(list);
    expect(() => check({ list })).toThrow("holds itself");
  });

  it("ends at a depth that no cookie has room for", () => {
    const nest = (depth: number) => JSON.parse(`${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`);
    expect(() => check(nest(32))).not.toThrow();
    expect(() => check(nest(33))).toThrow("nested too deeply");
    expect(() => check(nest(5000))).toThrow("nested too deeply");
  });

  it("puts no value into a message", () => {
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

  it("throws a TypeError or takes what JSON brings back as it was", () => {
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
        const back = JSON.parse(JSON.stringify(claims));
        expect(JSON.stringify(back)).toBe(JSON.stringify(claims));
        expect(back).toEqual(normal(claims));
      }),
    );
  });
});

/** What equality should not see: −0, which JSON writes as 0. */
function normal(value: unknown): unknown {
  return Object.is(value, -0)
    ? 0
    : Array.isArray(value)
      ? value.map(normal)
      : typeof value === "object" && value !== null
        ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, normal(item)]))
        : value;
}
