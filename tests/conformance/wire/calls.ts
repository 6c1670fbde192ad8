/** Rows: what calls answer that are let through, and how arguments are taken. */
import assert from "node:assert/strict";
import { assertCloses, calling, type Row, refusal, result, row, send } from "./exchange.ts";

const gives = (name: string, fn: string, args: unknown, wanted: unknown): Row =>
  row(name, async (site) => assert.deepEqual((await result(site, fn, args)).value, wanted));

const invalid = (name: string, fn: string, args: unknown, details: { parameter: string; expected: string }): Row =>
  row(name, async (site) => {
    await refusal(site, calling(fn, args), { status: 422, code: "validation_error", details });
  });

const echoed: readonly unknown[] = [
  null,
  true,
  0,
  -1.5,
  "",
  "a\u0000\u2028\ud83d\ude00</script>",
  [],
  [[1], {}],
  { a: { b: [] } },
];

const coerced: readonly (readonly [string, string, unknown, unknown])[] = [
  ["half", "of", "3", 1.5],
  ["half", "of", " -1e1 ", -5],
  ["half", "of", 7, 3.5],
  ["add", "a", "5", 15],
  ["add", "a", " 42 ", 52],
  ["add", "a", "-3", 7],
  ["add", "a", 3.0, 13],
  ["add", "a", 9007199254740991, 9007199254741000],
  ["maybe", "n", null, null],
  ["maybe", "n", "7", 7],
  ...[true, 1, "true", "TRUE", "1", "yes", "on"].map((on) => ["flag", "on", on, true] as const),
  ...[false, 0, "false", "0", "no", "Off"].map((on) => ["flag", "on", on, false] as const),
];

const refusedValues: readonly (readonly [string, string, string, unknown])[] = [
  ...["3.5", "three", "", " ", true, null, [], {}, 3.5, "1e3", "0x10", 9007199254740992, "9007199254740993"].map(
    (value) => ["add", "a", "int", value] as const,
  ),
  ...["", "NaN", "Infinity", "1,5", "1e999", true, null, ["1"]].map((value) => ["half", "of", "float", value] as const),
  ...["", "y", 2, -1, null, [], "truely"].map((value) => ["flag", "on", "boolean", value] as const),
  ["maybe", "n", "int or null", "null"],
];

export const callRows: readonly Row[] = [
  gives("a function that returns nothing gives null", "nothing", {}, null),
  gives("a function without parameters takes an empty object", "ping", {}, "pong"),
  ...echoed.map((value) => gives(`a value passes as it came: ${JSON.stringify(value)}`, "echo", { value }, value)),
  gives("an async function", "soon", { value: 1 }, 1),
  gives("a default, left out", "add", { a: 1 }, 11),
  gives("a default, given", "add", { b: 2, a: 1 }, 3),
  gives("a keyed function", "order", { item: "tea", quantity: "2" }, { item: "tea", quantity: 2 }),
  gives("a keyed function's default", "order", { item: "tea" }, { item: "tea", quantity: 1 }),
  ...coerced.map(([fn, name, value, wanted]) =>
    gives(`${fn}: ${name} takes ${JSON.stringify(value)}`, fn, { [name]: value }, wanted),
  ),
  ...refusedValues.map(([fn, parameter, expected, value]) =>
    invalid(
      `${fn}: ${parameter} refuses ${JSON.stringify(value)}`,
      fn,
      { [parameter]: value },
      { parameter, expected },
    ),
  ),
  invalid("a missing argument is named", "add", { b: 1 }, { parameter: "a", expected: "int" }),
  invalid("a missing keyed argument is named", "order", {}, { parameter: "item", expected: "any" }),
  invalid("an extra argument is refused", "add", { a: 1, c: 2 }, { parameter: "c", expected: "nothing" }),
  invalid("an argument of a function without any", "ping", { x: 1 }, { parameter: "x", expected: "nothing" }),
  invalid(
    "a name of the prototype is no parameter",
    "add",
    { a: 1, toString: 2 },
    { parameter: "toString", expected: "nothing" },
  ),
  row("a value that was refused is shown", async (site) => {
    await refusal(site, calling("add", { a: "three" }), {
      status: 422,
      code: "validation_error",
      message: /^a: expected int, got "three"$/,
    });
  }),
  gives(
    "values are serialised",
    "values",
    {},
    {
      point: { x: 1, y: 2 },
      date: "1970-01-01T00:00:00.000Z",
      big: "18446744073709551616",
      map: { a: 1 },
      set: [1, 2],
      bytes: "AQID",
      nan: null,
      dict: { d: 1 },
    },
  ),
  row("request is there", async (site) => {
    const asked = calling("about", {}, { "x-request-id": "ours-1", "user-agent": "wire" });
    const answer = await send(site, { ...asked, path: `${asked.path}?a=1&a=2&b=%20` });
    assert.deepEqual(JSON.parse(answer.text), {
      result: {
        path: `${site.base}/__web/rpc/about`,
        method: "POST",
        query: { a: "2", b: " " },
        id: "ours-1",
        agent: "wire",
      },
    });
  }),
  row(
    "a byte order mark before the body is passed over",
    async (site) => {
      const { status, text } = await send(site, { ...calling("ping"), body: '\ufeff{"args":{}}' });
      assert.deepEqual([status, text], [200, '{"result":"pong"}']);
    },
    { first: "parses" },
  ),
  row("an answer keeps its connection", async (site) => assertCloses(await result(site, "ping"), false)),
];
