import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_PREVIEW_CHARS, preview, previewJson } from "./preview.ts";

class Account {
  readonly name = "Ada";
  readonly password = "hunter2";
}

const circular: { self?: unknown } = {};
circular.self = { inner: circular };

const throwing = Object.defineProperty({}, "value", {
  enumerable: true,
  get() {
    throw new Error("no value");
  },
});

describe("the preview of a value", () => {
  it.each<[string, unknown, string]>([
    ["a text", "tea", '"tea"'],
    ["a number", 3, "3"],
    ["null", null, "null"],
    ["undefined", undefined, "undefined"],
    ["a bigint", 3n, '"[3]"'],
    ["a function", () => 1, '"[function]"'],
    ["a date", new Date(0), '"1970-01-01T00:00:00.000Z"'],
    ["an invalid date", new Date(Number.NaN), '"[invalid date]"'],
    ["a file", new File(["1234"], "a.png", { type: "image/png" }), '"[file a.png, 4 bytes, image/png]"'],
    ["bytes", new Uint8Array(3), '"[3 bytes]"'],
    ["a set", new Set([1, 2]), "[1,2]"],
    ["a map", new Map([["pin", 1234]]), '{"pin":"[redacted]"}'],
    ["a circular object", circular, '{"self":{"inner":"[circular]"}}'],
    ["an object with a getter that throws", throwing, "[not readable: no value]"],
    ["an object with toJSON", { toJSON: () => ({ token: "x" }) }, '{"toJSON":"[function]"}'],
    ["an object with the key __proto__", JSON.parse('{"__proto__":{"a":1}}'), '{"__proto__":{"a":1}}'],
  ])("shows %s", (_, value, shown) => expect(preview(value)).toBe(shown));

  it("hides a value with the name of a secret, whatever it is", () => {
    for (const value of ["hunter2", 1234, true, ["a"], { a: 1 }]) {
      expect(preview(value, "password")).toBe('"[redacted]"');
    }
  });

  it("shows that a secret is missing or empty", () => {
    expect([undefined, null, ""].map((value) => preview(value, "password"))).toEqual(["undefined", "null", '""']);
  });

  it("hides secrets at any depth, in lists, classes and maps", () => {
    const value = {
      users: [{ name: "Ada", auth: { code: 1 } }],
      account: new Account(),
      map: new Map([["token", "x"]]),
    };
    expect(JSON.parse(preview(value))).toEqual({
      users: [{ name: "Ada", auth: "[redacted]" }],
      account: { name: "Ada", password: "[redacted]" },
      map: { token: "[redacted]" },
    });
  });

  it("hides the value of a secret that another member or item names [DEV-12]", () => {
    const value = {
      fields: [
        { name: "password", value: "hunter2" },
        { name: "city", value: "Paris" },
      ],
      headers: [
        ["x-api-key", "hunter2"],
        ["accept", "text/html"],
      ],
      empty: { name: "password", value: "" },
    };
    expect(JSON.parse(preview(value))).toEqual({
      fields: [
        { name: "password", value: "[redacted]" },
        { name: "city", value: "Paris" },
      ],
      headers: [
        ["x-api-key", "[redacted]"],
        ["accept", "text/html"],
      ],
      empty: { name: "password", value: "" },
    });
  });

  it("hides a secret text in a value with any name", () => {
    expect(preview({ header: "Bearer abcdef123456" })).toBe('{"header":"[redacted]"}');
  });

  it("shortens long texts, lists and objects, and deep values", () => {
    expect(preview("x".repeat(1_000))).toHaveLength(503);
    expect(JSON.parse(preview(Array(60).fill(1)))).toHaveLength(51);
    expect(JSON.parse(preview(Object.fromEntries(Array.from({ length: 60 }, (_, n) => [n, n]))))["…"]).toBe("10 more");
    expect(preview({ a: { a: { a: { a: { a: { a: { a: 1 } } } } } } })).toContain("{…}");
  });

  it("never throws, and is never longer than its limit", () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true }), (value) => {
        expect(preview(value).length).toBeLessThanOrEqual(MAX_PREVIEW_CHARS + 1);
      }),
    );
  });

  it("never contains a secret, wherever it is in a JSON value [DEV-11]", () => {
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        fc.record({ password: fc.constant("hunter2") }),
        fc.array(tie("tree"), { maxLength: 3 }),
        fc.dictionary(fc.string(), tie("tree"), { maxKeys: 3 }),
      ),
    }));
    fc.assert(
      fc.property(tree, (value) => {
        expect(previewJson(JSON.stringify(value))).not.toContain("hunter2");
      }),
    );
  });
});
