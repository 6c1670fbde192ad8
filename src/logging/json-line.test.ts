import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jsonLine } from "./json-line.ts";

const parse = (fields: object): unknown => JSON.parse(jsonLine("info", fields, "Saved"));
const anyValues = () => fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true });

describe("a log line", () => {
  it("is one line of JSON with level, time, process id, the fields and the message, in this order", () => {
    const line = jsonLine("warn", { id: 1, text: "a\nb\u2028" }, 'Not "saved"');
    expect(line).toMatch(
      /^\{"level":"warn","time":"\d{4}-\d\d-\d\dT[\d:.]+Z","pid":\d+,"id":1,"text":"a\\nb\u2028","msg":".*"\}\n$/,
    );
    expect(JSON.parse(line)).toMatchObject({ pid: process.pid, id: 1, text: "a\nb\u2028", msg: 'Not "saved"' });
  });

  it.each([
    ["undefined and functions are left out", { a: undefined, b: () => 1, c: 1 }, { c: 1 }],
    ["dates are text", { a: new Date(0) }, { a: "1970-01-01T00:00:00.000Z" }],
    ["numbers that JSON lacks are null", { a: Number.NaN, b: [Number.POSITIVE_INFINITY] }, { a: null, b: [null] }],
    ["a bigint is text", { a: 12345678901234567890n, b: [1n] }, { a: "12345678901234567890", b: ["1"] }],
    ["`msg` is always the message", { msg: "other" }, { msg: "Saved" }],
  ])("for any field: %s", (_, fields: object, expected) => expect(parse(fields)).toMatchObject(expected));

  it("names a reference to a parent, and writes the same object twice where it is none", () => {
    const shared = { a: 1 };
    const user: Record<string, unknown> = { name: "Ada", first: shared, second: shared };
    user.self = user;
    user.list = [user];
    expect(parse({ user })).toMatchObject({
      user: { name: "Ada", first: { a: 1 }, second: { a: 1 }, self: "[Circular]", list: ["[Circular]"] },
    });
  });

  it("names a value that throws when it is read, and writes all others", () => {
    const failing = {
      get a(): never {
        throw new Error("unreadable");
      },
    };
    const toJSON = {
      toJSON() {
        throw new Error("unreadable");
      },
    };
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(parse({ failing, toJSON, proxy: { proxy }, b: 2 })).toMatchObject({
      failing: "[Unreadable]",
      toJSON: "[Unreadable]",
      b: 2,
    });
  });

  it("is short for an object with a reference to a parent that refers to very many others", () => {
    const nodes = Array.from({ length: 300 }, (_, id) => ({ id, others: [] as unknown[] }));
    for (const node of nodes) node.others = nodes;
    expect(jsonLine("info", { nodes }, "Saved").length).toBeLessThan(1_000_000);
  });

  it("is one valid line for any fields", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), anyValues()), (fields) => {
        const line = jsonLine("info", { ...fields, self: fields }, "Saved");
        expect(line.indexOf("\n")).toBe(line.length - 1);
        expect(JSON.parse(line)).toHaveProperty("msg", "Saved");
      }),
      { numRuns: 30 },
    );
  });
});
