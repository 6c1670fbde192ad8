import { createElement } from "preact";
import { describe, expect, it } from "vitest";
import { Money, PlainDate } from "#test/serializable-classes";
import { checkArgumentCount, checkArguments } from "./index.ts";

class Cart {
  readonly #items = [1];
  get count(): number {
    return this.#items.length;
  }
}
class BigCart extends Cart {}
class Todo {
  readonly id = 1;
  readonly toggle = () => this.id;
  rename(): void {}
}
class Filter {}

const cyclic: { list: unknown[] } = { list: [] };
cyclic.list.push(cyclic);
const event = () => new Event("click");
const file = new File(["a"], "a.txt");
const check = (value: unknown, canSendFiles = false) => checkArguments("save", { guest: value }, canSendFiles);

describe("an argument that would not arrive as it is, is refused with its function, its path and the fix:", () => {
  it.each<[string, unknown, string]>([
    ["a Set", { tags: new Set() }, "guest.tags: a Set cannot be sent. Use an array: [...tags]."],
    ["a Map", new Map([["a", 1]]), "guest: a Map cannot be sent. Use an object: Object.fromEntries(guest)."],
    ["a class of Map", new (class extends Map {})(), "guest: a Map cannot be sent."],
    [
      "a FormData",
      new FormData(),
      "guest: a FormData cannot be sent. Pass its fields as arguments, or use the function",
    ],
    [
      "a URLSearchParams",
      { q: new URLSearchParams("a=1") },
      "guest.q: a URLSearchParams cannot be sent. Use an object",
    ],
    ["Headers", [new Headers()], "guest[0]: a Headers object cannot be sent."],
    ["a function", () => 1, "guest: a function cannot be sent. Call it first"],
    ["a function in an array", [() => 1], "guest[0]: a function cannot be sent."],
    ["a symbol", Symbol("s"), "guest: a symbol cannot be sent. Pass a string."],
    ["a bigint", { n: 1n }, "guest.n: a bigint cannot be sent. Pass a string: String(n)."],
    ["NaN", { prices: [1, Number.NaN] }, "guest.prices[1]: NaN cannot be sent. Check the number first, or pass null."],
    ["Infinity", -Infinity, "guest: -Infinity cannot be sent."],
    ["an invalid Date", new Date("x"), "guest: an invalid Date cannot be sent."],
    ["a cycle", cyclic, "guest.list[0]: an object that contains itself cannot be sent. Pass only the fields"],
    ["a promise", Promise.resolve(1), "guest: a promise cannot be sent. Await it first: await guest."],
    // biome-ignore lint/suspicious/noThenProperty: a thenable is tested
    ["a thenable", { user: { then() {} } }, "guest.user: a promise cannot be sent. Await it first: await user."],
    [
      "a file in an object",
      { photo: file },
      "guest.photo: a File cannot be sent. A file must be an argument of its own",
    ],
    ["a Blob", new Blob(), "guest: a Blob cannot be sent."],
    [
      "bytes",
      new Uint8Array([1]),
      "guest: an Uint8Array cannot be sent. Use an array, Array.from(guest), or pass new Blob",
    ],
    [
      "a buffer",
      new ArrayBuffer(1),
      "guest: an ArrayBuffer cannot be sent. Use an array, Array.from(new Uint8Array(guest))",
    ],
    ["an Error", new Error("x"), "guest: an Error cannot be sent. Pass its text: guest.message."],
    ["a regular expression", /x/, "guest: a regular expression cannot be sent. Pass its text: guest.source."],
    ["an event", event(), "guest: an event cannot be sent. An event handler receives the event as its argument."],
    ["an iterator", [1].values(), "guest: an iterator cannot be sent. Use an array: [...guest]."],
    ["a stream", new ReadableStream(), "guest: a stream cannot be sent. Read it first"],
    ["an async generator", (async function* () {})(), "guest: a stream cannot be sent."],
    ["markup", { text: createElement("b", null) }, "guest.text: markup cannot be sent."],
    ["private fields", new Cart(), "guest: an instance of Cart cannot be sent. It has no fields that could be sent."],
    ["inherited private fields", [new BigCart()], "guest[0]: an instance of BigCart cannot be sent."],
    ["a WeakMap", new WeakMap(), "guest: an instance of WeakMap cannot be sent."],
    [
      "a key that is not an identifier",
      { "per day": new Set() },
      'guest["per day"]: a Set cannot be sent. Use an array: [...value].',
    ],
  ])("%s", (_, value, message) => {
    expect(() => check(value)).toThrow(TypeError);
    expect(() => check(value)).toThrow(`save: ${message}`);
  });

  it("an object of named arguments that is a FormData", () => {
    const args = new FormData() as unknown as Record<string, unknown>; // as a developer may pass it
    expect(() => checkArguments("save", args, false)).toThrow("save: a FormData cannot be sent.");
  });
});

describe("an argument is accepted if it is", () => {
  const shared = { a: 1 };
  it.each<[string, unknown]>([
    ["JSON", { a: [1, "b", true, null, { c: [] }], d: {} }],
    ["undefined", undefined],
    ["an object with undefined and an array with undefined", { a: undefined, b: [undefined] }],
    // biome-ignore lint/suspicious/noSparseArray: a sparse array is tested
    ["a sparse array", [1, , 2]],
    ["one object twice", [shared, shared]],
    ["a Date", new Date(0)],
    ["a URL", new URL("http://a.example")],
    ["Temporal", new PlainDate("2026-01-02")],
    ["a class of bigints with toJSON", Object.assign(new Money(1n), { toJSON: () => "1" })],
    ["a Buffer, which has toJSON", Buffer.from("a")],
    ["a Map with toJSON", Object.assign(new Map(), { toJSON: () => [] })],
    ["an instance with fields, whose methods are omitted", new Todo()],
    ["an instance of a class without members", new Filter()],
    ["an object with a function, which is omitted", { id: 1, save() {} }],
    ["an object without a prototype", Object.assign(Object.create(null), { a: 1 })],
    ["an Error with fields", Object.assign(new Error("x"), { code: "conflict" })],
    ["a wrapper object", [Object("a"), Object(1), Object(false)]],
    ["an object with next", { next: () => 1, a: 1 }],
    ["a proxy of an object", new Proxy({ a: new Proxy([1], {}) }, {})],
  ])("%s", (_, value) => {
    expect(() => check(value)).not.toThrow();
  });

  it("an object of named arguments with a method toJSON, whose result is sent", () => {
    const filter = { tags: new Set(["a"]), toJSON: () => ({ tags: ["a"] }) };
    expect(() => checkArguments("save", filter, false)).not.toThrow();
  });

  it("a file, or an array of files, of a call that can send them", () => {
    for (const value of [file, new Blob(), [file, file]]) {
      expect(() => check(value, true)).not.toThrow();
      expect(() => check(value, false)).toThrow("A file must be an argument of its own");
    }
    expect(() => check([file, "a"], true)).toThrow("guest[0]: a File cannot be sent.");
  });

  it("nested deeper than the server accepts, so that the server refuses it", () => {
    let deep: unknown = 1;
    for (let i = 0; i < 5_000; i++) deep = [deep];
    expect(() => check(deep)).not.toThrow();
  });
});

describe("a call with another number of arguments than the function takes", () => {
  it.each<[readonly string[] | undefined, unknown[], string]>([
    [["a"], [1, 2], "save received 2 arguments, but takes at most 1: save(a). Write save(a)."],
    [
      ["item"],
      ["x", 0, ["x"]],
      "save received 3 arguments, but takes at most 1: save(item). " +
        "Array methods such as map pass the index and the array, too. Write (item) => save(item).",
    ],
    [
      [],
      [event()],
      "save received an event, but takes no arguments. " +
        "An event handler receives the event as its argument. Write () => save().",
    ],
    [
      undefined,
      ["tea"],
      "save received a string, but takes one object of named arguments: save({ … }). Write save({ … }).",
    ],
    [undefined, [["tea"]], "save received an array, but takes one object of named arguments: save({ … })."],
    [undefined, [{}, 2], "save received 2 arguments, but takes one object of named arguments: save({ … })."],
    [undefined, [event()], "save received an event, but takes one object of named arguments: save({ … })."],
  ])("with the parameters %j and the arguments %j is refused with the form to write", (params, values, message) => {
    expect(() => checkArgumentCount("save", params, values)).toThrow(message);
  });

  it.each<[readonly string[] | undefined, unknown[]]>([
    [["a", "b"], []],
    [
      ["a", "b"],
      [1, 2],
    ],
    [[], []],
    [undefined, []],
    [undefined, [undefined]],
    [undefined, [null]],
    [undefined, [{ a: 1 }]],
  ])("with the parameters %j and the arguments %j is accepted", (params, values) => {
    expect(() => checkArgumentCount("save", params, values)).not.toThrow();
  });
});
