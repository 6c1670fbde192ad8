import fc from "fast-check";
import { createElement } from "preact";
import { describe, expect, it } from "vitest";
import { anyCharacter } from "#test/any-text";
import { Money, PlainDate } from "#test/serializable-classes";
import { SerializeError, type SerializeOptions, toJson } from "./serialize.ts";

/** Returns a value after it was serialised and parsed. */
function roundTrip(value: unknown, options?: SerializeOptions): unknown {
  return JSON.parse(toJson(value, options));
}

/** Does the same with conversion, which toJson skips for values that JSON.stringify serialises correctly. */
function roundTripWithConversion(value: unknown): unknown {
  const [result] = roundTrip([value, 1n]) as [unknown, string]; // the bigint requires conversion
  return result;
}

function errorOf(value: unknown, options?: SerializeOptions): SerializeError {
  try {
    toJson(value, options);
  } catch (error) {
    if (error instanceof SerializeError) return error;
    throw error;
  }
  throw new Error("The value was serialised.");
}

class Point {
  readonly #secret = 1;
  readonly x: number;
  readonly at = new Date(0);
  constructor(x: number) {
    this.x = x;
  }
  get sum(): number {
    return this.x + this.#secret;
  }
  move(): void {}
}

function nested(depth: number): unknown {
  let value: unknown = 1n;
  for (let i = 0; i < depth; i++) value = [value];
  return value;
}

describe("toJson follows each row of docs/protocol.md 5.1", () => {
  const cyclic: unknown[] = [];
  cyclic.push(cyclic);

  it.each<[string, unknown, unknown]>([
    ["null", null, null],
    ["a string", 'a"\u2028\ud800', 'a"\u2028\ud800'],
    ["a number", 1.5, 1.5],
    ["NaN", Number.NaN, null],
    ["Infinity", Number.POSITIVE_INFINITY, null],
    ["-Infinity", Number.NEGATIVE_INFINITY, null],
    ["-0", -0, 0],
    ["undefined at the top", undefined, null],
    ["undefined in an array", [undefined], [null]],
    ["undefined in an object", { a: undefined, b: 1 }, { b: 1 }],
    [
      "TypeScript's private fields",
      new (class {
        private readonly a = 1;
        sum() {
          return this.a;
        }
      })(),
      { a: 1 },
    ],
    // biome-ignore lint/suspicious/noSparseArray: a sparse array is tested
    ["a sparse array", [1, , 3], [1, null, 3]],
    ["a class instance", new Point(1), { x: 1, at: "1970-01-01T00:00:00.000Z" }],
    ["an object without a prototype", Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
    [
      "a getter of its own",
      {
        get a() {
          return 1n;
        },
      },
      { a: "1" },
    ],
    ["a field that is not enumerable", Object.defineProperty({ a: 1 }, "b", { value: 2 }), { a: 1 }],
    ["a symbol's field", { [Symbol("s")]: 1, a: 1 }, { a: 1 }],
    ["a Date", new Date(0), "1970-01-01T00:00:00.000Z"],
    ["an invalid Date", new Date(Number.NaN), null],
    ["Temporal", new PlainDate("2026-01-02"), "2026-01-02"],
    ["a URL", new URL("http://a.example/b"), "http://a.example/b"],
    ["a bigint", 2n ** 64n, "18446744073709551616"],
    ["a decimal class", new Money(1234n), "12.34"],
    ["a decimal class with a toJSON", Object.assign(new Money(1n), { toJSON: () => "own" }), "own"],
    ["to_dict", { to_dict: () => ({ a: new Date(0) }) }, { a: "1970-01-01T00:00:00.000Z" }],
    ["to_dict before toJSON", { to_dict: () => "dict", toJSON: () => "json" }, "dict"],
    ["toJSON that returns a value to convert", { toJSON: () => new Map([["a", 1n]]) }, { a: "1" }],
    ["toJSON that returns undefined", [{ toJSON: () => undefined }], [null]],
    ["to_dict of a Map", Object.assign(new Map([["a", 1]]), { to_dict: () => "dict" }), "dict"],
    ["to_dict of an array", Object.assign([1], { to_dict: () => "dict" }), "dict"],
    [
      "to_dict of a class of arrays",
      new (class extends Array {
        to_dict() {
          return "dict";
        }
      })(),
      "dict",
    ],
    ["a field that is named toJSON and is no function", { toJSON: 1, to_dict: "a" }, { toJSON: 1, to_dict: "a" }],
    [
      "a Map",
      new Map<unknown, unknown>([
        ["a", 1n],
        [2, undefined],
        [true, [1]],
      ]),
      { a: "1", true: [1] },
    ],
    ["a Set", new Set([1n, undefined, new Set([1])]), ["1", null, [1]]],
    ["a Uint8Array", new Uint8Array([1, 2, 255]), "AQL/"],
    ["a part of a buffer", new Uint8Array([1, 2, 3, 4]).subarray(1, 3), "AgM="],
    ["a Buffer", Buffer.from("hello"), "aGVsbG8="],
    ["an ArrayBuffer", new Uint8Array([1]).buffer, "AQ=="],
    ["a SharedArrayBuffer", new SharedArrayBuffer(2), "AAA="],
    [
      "an Error: its own fields, not its text or stack",
      Object.assign(new Error("hunter2"), { code: "a" }),
      { code: "a" },
    ],
    ["a class", { c: Point, n: 1 }, { n: 1 }],
    ["a DataView", new DataView(new Uint8Array([1, 2]).buffer, 1), "Ag=="],
    ["a Float64Array", new Float64Array([1.5, Number.NaN]), [1.5, null]],
    ["a Uint8ClampedArray", new Uint8ClampedArray([1, 2]), [1, 2]],
    ["a BigInt64Array", new BigInt64Array([1n, -2n]), ["1", "-2"]],
    ["boxed primitives", [Object(1), Object("a"), Object(false), Object(1n)], [1, "a", false, "1"]],
    ["functions and symbols", { f() {}, s: Symbol("s"), list: [() => 1, Symbol("s")] }, { list: [null, null] }],
    ["a function at the top", () => 1, null],
    ["a key named __proto__", JSON.parse('{"__proto__":{"a":1}}'), JSON.parse('{"__proto__":{"a":1}}')],
    ["a Map's key named __proto__", new Map([["__proto__", { a: 1n }]]), JSON.parse('{"__proto__":{"a":"1"}}')],
    ["one object twice", [cyclic.length, new Array(2).fill({ a: 1n })], [1, [{ a: "1" }, { a: "1" }]]],
  ])("%s", (_, value, expected) => {
    expect(roundTrip(value)).toEqual(expected);
    // With and without conversion the result must be the same.
    expect(roundTripWithConversion(value)).toEqual(expected);
  });

  it("toJson sets no prototype for a key named __proto__ [REQUEST-86]", () => {
    const value = roundTrip(new Map([["__proto__", { polluted: true, big: 1n }]])) as object;
    expect(Object.keys(value)).toEqual(["__proto__"]);
    expect(Reflect.get({}, "polluted")).toBeUndefined();
  });
});

describe("toJson throws a SerializeError", () => {
  it("whose stack begins at the caller of toJson, however deep the value is", () => {
    let value: unknown = Promise.resolve();
    for (let depth = 0; depth < 30; depth++) value = { value };
    const serializeForTest = () => toJson(value);
    let stack: string | undefined;
    try {
      serializeForTest();
    } catch (error) {
      stack = error instanceof Error ? error.stack : undefined;
    }
    expect(stack?.split("\n").slice(0, 2)).toEqual([
      expect.stringContaining("SerializeError: value.value"),
      expect.stringContaining("at serializeForTest"),
    ]);
  });

  it("for a cycle through objects, arrays, maps, sets and conversions", () => {
    const list: unknown[] = [];
    list.push([list]);
    const map = new Map<string, unknown>();
    map.set("self", map);
    const set = new Set<unknown>();
    set.add([set]);
    const dict = { to_dict: () => ({ inner: dict }) };
    const json = { toJSON: () => json };
    const object: { a: { b: unknown[] } } = { a: { b: [] } };
    object.a.b.push(0, object);
    const paths = [list, map, set, dict, json, object].map((value) => errorOf(value));
    expect(paths.map(({ path }) => path)).toEqual(["[0][0]", "self", "[0][0]", "inner", "", "a.b[1]"]);
    for (const { message } of paths) expect(message).toContain("it contains itself.");
  });

  it("for a promise at any depth", () => {
    expect(errorOf(Promise.resolve(1)).message).toBe("the value cannot be sent: it is a promise; await it first.");
    expect(errorOf({ a: [Promise.resolve(1)] }).path).toBe("a[0]");
    // biome-ignore lint/suspicious/noThenProperty: a thenable is tested
    const thenable = { then: () => 1 };
    expect(errorOf({ a: thenable }).path).toBe("a");
    expect(errorOf({ a: thenable, b: 1n }).path).toBe("a");
  });

  it("for a stream", () => {
    const stream = async function* () {};
    expect(errorOf(stream()).message).toContain("it is a stream");
    expect(errorOf({ body: new ReadableStream() }).path).toBe("body");
    // A plain object without fields.
    expect(errorOf({ body: { cancel() {}, [Symbol.asyncIterator]: stream } }).path).toBe("body");
  });

  it("for an iterator, which would silently become an empty object", () => {
    const steps = function* () {
      yield 1;
    };
    for (const value of [steps(), [1].values(), new Map().keys(), { next: () => 1, [Symbol.iterator]: () => 1 }]) {
      expect(errorOf(value).message).toContain("it is an iterator");
      expect(errorOf({ a: [value] }).path).toBe("a[0]");
    }
    expect(roundTrip({ next: () => 1, a: 1 })).toEqual({ a: 1 });
    expect(roundTrip({ next: "page", [Symbol.iterator]: 1 })).toEqual({ next: "page" });
  });

  it.each<[string, unknown, string]>([
    ["a Response", new Response("a"), "it is a Response. Return its data, or return the Response from a route()."],
    ["a Request", new Request("http://a.example"), "it is a Request. Return the data"],
    ["a File", new File(["a"], "a"), "it is a File. Return it from a route(), as a Response or with send_file()."],
    ["a Blob", new Blob(), "it is a Blob. Return it from a route()"],
    ["a FormData", new FormData(), "it is a FormData. Return an object: Object.fromEntries(form)."],
    ["a URLSearchParams", new URLSearchParams("a=1"), "it is a URLSearchParams. Return an object"],
    ["Headers", new Headers(), "it is a Headers object. Return an object"],
    ["a regular expression", /a/, "it is a regular expression. Return its text"],
    ["a WeakMap", new WeakMap(), "it is an instance of WeakMap that has no fields"],
    [
      "an instance with private fields only",
      new (class Cart {
        readonly #items = [1];
        count(): number {
          return this.#items.length;
        }
      })(),
      "it is an instance of Cart that has no fields: private fields and getters are not sent. " +
        "Return a plain object, or give the class a method to_dict().",
    ],
  ])("for %s, which would arrive as an empty object", (_, value, reason) => {
    expect(errorOf({ list: [value] }).message).toContain(`list[0] cannot be sent: ${reason}`);
    expect(errorOf(value, { subject: "add (src/a.server.ts:3)" }).message).toContain(
      `add (src/a.server.ts:3): the value cannot be sent: ${reason}`,
    );
  });

  it("but not for an empty object, an Error, an instance of a class without members, or one with to_dict", () => {
    class Empty {}
    class Hidden {
      readonly #value = 1;
      to_dict() {
        return { value: this.#value };
      }
    }
    const values = [{}, Object.create(null), new Error("hunter2"), new TypeError("hunter2"), new Empty()];
    expect(roundTrip(values)).toEqual([{}, {}, {}, {}, {}]);
    expect(roundTrip(new Hidden())).toEqual({ value: 1 });
  });

  it("for a Map key that is an object or a symbol, because such keys would collide", () => {
    for (const key of [{}, new Date(0), Object.create(null), () => 1, Symbol("s")]) {
      expect(errorOf({ map: new Map([[key, 1]]) }).message).toMatch(
        /^map cannot be sent: it has a key of type \w+; keys must be strings\.$/,
      );
    }
  });

  it("that names the path of the value", () => {
    const value = { items: [{ price: 1 }, { price: 2 }, { price: Promise.resolve(3) }] };
    expect(errorOf(value).message).toBe("items[2].price cannot be sent: it is a promise; await it first.");
    // The path is restored after each branch.
    expect(errorOf([{ a: [1n, { b: 2 }] }, new Map([["k", new Set([Promise.resolve()])]])]).path).toBe("[1].k[0]");
  });

  it("for endless nesting, but not for deep nesting", () => {
    expect(JSON.stringify(roundTrip(nested(400)))).toBe(`${"[".repeat(400)}"1"${"]".repeat(400)}`);
    expect(errorOf(nested(600)).message).toContain("nests deeper than 500");
    expect(errorOf(nested(50_000)).message).toContain("nests deeper than 500");
    const endless = { to_dict: (): unknown => ({ to_dict: endless.to_dict }) };
    expect(errorOf(endless).message).toContain("nests deeper than 500");
    const grows = () => ({
      get next(): unknown {
        return grows();
      },
    });
    expect(errorOf(grows()).message).toContain("nests deeper than 500");
  });

  it("for a function, a symbol and markup with the option strict", () => {
    const strict = { strict: true };
    expect(errorOf({ on: { click() {} } }, strict).message).toBe(
      "on.click cannot be sent: a function cannot be sent as JSON.",
    );
    expect(errorOf({ cards: Object.assign(() => [], { live() {} }) }, strict).message).toBe(
      "cards cannot be sent: it is a query; call it, or its `live`, and await the result.",
    );
    expect(errorOf([Symbol("s")], strict).path).toBe("[0]");
    expect(errorOf({ a: 1n, f: () => 1 }, strict).path).toBe("f");
    expect(errorOf({ list: [createElement("b", null)] }, strict).message).toBe(
      "list[0] cannot be sent: markup cannot be sent as JSON.",
    );
    expect(roundTrip({ a: undefined, b: [1, null], c: Object.create(null) }, strict)).toEqual({ b: [1, null], c: {} });
  });

  it("unless the value's own code throws another error", () => {
    const error = new RangeError("mine");
    const throws = () => {
      throw error;
    };
    expect(() => toJson({ to_dict: throws })).toThrow(error);
    expect(() =>
      toJson({
        get a() {
          return throws();
        },
      }),
    ).toThrow(error);
  });
});

describe("toJson with any value", () => {
  /** Replaces -0 by 0, because JSON.stringify writes -0 as 0. */
  const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)));

  it("returns JSON that parses to the same value, for values of JSON", () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(roundTrip(value)).toEqual(value);
        expect(roundTripWithConversion(value)).toEqual(value);
        expect(toJson(value)).toBe(JSON.stringify(value));
      }),
    );
  });

  it("returns the same text as JSON.stringify, for values of JSON", () => {
    const plain = fc.object({
      withDate: true,
      withNullPrototype: true,
      withSparseArray: true,
      values: [fc.string(), fc.double(), fc.boolean(), fc.constantFrom(undefined, null, () => 1, Symbol("s"))],
    });
    fc.assert(
      fc.property(plain, (value) => {
        expect(toJson(value)).toBe(JSON.stringify(value));
        expect(roundTripWithConversion(value)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it("returns JSON or throws a SerializeError", { timeout: 60_000 }, () => {
    const weird = fc.anything({
      withBigInt: true,
      withBoxedValues: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withNullPrototype: true,
      withObjectString: true,
      withSparseArray: true,
      withTypedArray: true,
      stringUnit: anyCharacter,
    });
    fc.assert(
      fc.property(weird, fc.boolean(), (value, strict) => {
        try {
          JSON.parse(toJson(value, { strict }));
        } catch (error) {
          expect(error).toBeInstanceOf(SerializeError);
        }
      }),
      { numRuns: 500 },
    );
  });
});
