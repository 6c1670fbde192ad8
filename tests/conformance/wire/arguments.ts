/** Test cases: how arguments are bound and coerced. @see docs/protocol.md 4 */
import assert from "node:assert/strict";
import { callRequest, expectError, expectResult, type WireCase, wireCase } from "./exchange.ts";

const accepts = (title: string, fn: string, args: unknown, expected: unknown): WireCase =>
  wireCase(title, async (target) => assert.deepEqual((await expectResult(target, fn, args)).value, expected));

const rejects = (
  title: string,
  fn: string,
  args: unknown,
  details: { parameter: string; expected: string },
): WireCase =>
  wireCase(title, async (target) => {
    await expectError(target, callRequest(fn, args), { status: 422, code: "validation_error", details });
  });

/** Function, parameter, argument, and the result. */
const acceptedArguments: readonly (readonly [string, string, unknown, unknown])[] = [
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

/** Function, parameter, type of the parameter, and argument. */
const rejectedArguments: readonly (readonly [string, string, string, unknown])[] = [
  ...["3.5", "three", "", " ", true, null, [], {}, 3.5, "1e3", "0x10", 9007199254740992, "9007199254740993"].map(
    (value) => ["add", "a", "int", value] as const,
  ),
  ...["", "NaN", "Infinity", "1,5", "1e999", true, null, ["1"]].map((value) => ["half", "of", "float", value] as const),
  ...["", "y", 2, -1, null, [], "truely"].map((value) => ["flag", "on", "boolean", value] as const),
  ["maybe", "n", "int or null", "null"],
];

export const argumentCases: readonly WireCase[] = [
  accepts("uses the default of an omitted argument", "add", { a: 1 }, 11),
  accepts("uses a passed argument instead of its default", "add", { b: 2, a: 1 }, 3),
  accepts(
    "passes arguments to a function of named parameters",
    "order",
    { item: "tea", quantity: "2" },
    { item: "tea", quantity: 2 },
  ),
  accepts(
    "uses the default of an omitted argument of a function of named parameters",
    "order",
    { item: "tea" },
    { item: "tea", quantity: 1 },
  ),
  ...acceptedArguments.map(([fn, name, value, expected]) =>
    accepts(`accepts the call ${fn}({ ${name}: ${JSON.stringify(value)} })`, fn, { [name]: value }, expected),
  ),
  ...rejectedArguments.map(([fn, parameter, expected, value]) =>
    rejects(
      `rejects the call ${fn}({ ${parameter}: ${JSON.stringify(value)} }) [REQUEST-3]`,
      fn,
      { [parameter]: value },
      { parameter, expected },
    ),
  ),
  rejects("names a missing argument in the error [REQUEST-1]", "add", { b: 1 }, { parameter: "a", expected: "int" }),
  rejects(
    "names a missing argument of a function of named parameters in the error",
    "order",
    {},
    { parameter: "item", expected: "any" },
  ),
  rejects("rejects an unknown argument [REQUEST-2]", "add", { a: 1, c: 2 }, { parameter: "c", expected: "nothing" }),
  rejects(
    "rejects an argument for a function without parameters",
    "ping",
    { x: 1 },
    { parameter: "x", expected: "nothing" },
  ),
  rejects(
    "rejects an argument named as a property of Object.prototype",
    "add",
    { a: 1, toString: 2 },
    { parameter: "toString", expected: "nothing" },
  ),
  wireCase("quotes a rejected value in the error message", async (target) => {
    await expectError(target, callRequest("add", { a: "three" }), {
      status: 422,
      code: "validation_error",
      message: /^a: expected int, got "three"$/,
    });
  }),
];
