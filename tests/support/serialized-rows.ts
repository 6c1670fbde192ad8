/**
 * Types, values of each type, and guards of the serialised value. A row compiles only if `Serialized` of the type is
 * identical to the type of its guard.
 */
import fc from "fast-check";
import type { Serialized, SerializedResult } from "../../src/protocol/serialized.ts";
import { anyText } from "./any-text.ts";
import { Money, PlainDate } from "./serializable-classes.ts";
import type { Equal } from "./type-equality.ts";
import {
  anything,
  boolean,
  either,
  type Guard,
  type GuardedType,
  list,
  literal,
  nullValue,
  number,
  object,
  type Predicate,
  record,
  string,
  tuple,
  unknown,
} from "./type-guards.ts";

/** A type: its name, random values of it, and a predicate of their serialised form. */
export interface Row {
  readonly name: string;
  readonly values: fc.Arbitrary<unknown>;
  readonly isSerialized: Predicate;
}

/** A row if the two types are identical, otherwise a type that is not assignable to a row. */
type CheckedRow<Actual, Expected> =
  Equal<Actual, Expected> extends true ? Row : { readonly theTypesDiffer: [actual: Actual, expected: Expected] };

function checked<P>(row: Row): P {
  return row as P; // the type parameter is checked at compile time only
}

/** Returns a row: random values of a type, and the guard of the type that `Serialized` must be. */
function row<T, G extends Predicate>(
  name: string,
  values: fc.Arbitrary<T>,
  sent: G,
): CheckedRow<Serialized<T>, GuardedType<G>> {
  return checked({ name, values, isSerialized: sent });
}

/** Returns a row for `SerializedResult`. */
function result<T, G extends Predicate>(
  name: string,
  values: fc.Arbitrary<T>,
  sent: G,
): CheckedRow<SerializedResult<T>, GuardedType<G>> {
  return checked({ name, values, isSerialized: sent });
}

class Point {
  readonly #hidden = 1;
  readonly x: number;
  readonly at: Date;
  readonly move = () => this.#hidden;
  constructor(x: number, at: Date) {
    this.x = x;
    this.at = at;
  }
  where(): string {
    return `${this.x}`;
  }
}

class User {
  readonly born: Date;
  constructor(born: Date) {
    this.born = born;
  }
  to_dict(): { born: Date; tags: Set<string> } {
    return { born: this.born, tags: new Set(["a"]) };
  }
  toJSON(): number {
    return 1;
  }
}

class Failure extends Error {
  readonly code: "a" | "b" = "a";
  readonly at = new Date(0);
}

type Shape = { readonly kind: "dot"; at: Date } | { kind: "none" };

const text = anyText();
const double = fc.double({ noNaN: true, noDefaultInfinity: true });
const date = fc.date({ noInvalidDate: true });
const bigint = fc.bigInt();
const bytes = fc.uint8Array();
const point = fc.tuple(double, date).map(([x, at]) => new Point(x, at));
const maybeDate: fc.Arbitrary<Date | undefined> = fc.option(date, { nil: undefined });
const fn = fc.func(fc.integer());
const symbol = fc.constant(Symbol("s")) as fc.Arbitrary<symbol>; // the type of all symbols, not a unique symbol

/** The rows of `Serialized`. */
export const ROWS: readonly Row[] = [
  row("string", text, string),
  row("number", double, number),
  row("boolean", fc.boolean(), boolean),
  row("null", fc.constant(null), nullValue),
  row("literals", fc.constantFrom("a" as const, 1 as const, true as const), literal("a", 1, true)),
  row("unknown", fc.jsonValue() as fc.Arbitrary<unknown>, unknown),
  // biome-ignore lint/suspicious/noExplicitAny: the type any is tested
  row("any", fc.jsonValue() as fc.Arbitrary<any>, anything),
  row("bigint", bigint, string),
  row("Date", date, string),
  row("Date or null", fc.option(date), either(string, nullValue)),
  row(
    "URL",
    fc.webUrl().map((url) => new URL(url)),
    string,
  ),
  row(
    "decimals",
    bigint.map((cents) => new Money(cents)),
    string,
  ),
  row(
    "toJSON",
    text.map((iso) => new PlainDate(iso)),
    string,
  ),
  row(
    "toJSON with a result that is serialised too",
    date.map((at) => ({ toJSON: () => ({ at }) })),
    object<{ at: string }>({ at: string }),
  ),
  row(
    "to_dict, before toJSON",
    date.map((born) => new User(born)),
    object<{ born: string; tags: string[] }>({ born: string, tags: list(string) }),
  ),
  row(
    "Map",
    fc.array(fc.tuple(text, date)).map((entries) => new Map(entries)),
    record(string),
  ),
  row(
    "Map of numbers",
    fc.array(fc.tuple(fc.integer(), bigint)).map((entries) => new Map(entries)),
    record(string),
  ),
  row(
    "Map of some keys",
    date.map((at) => new Map<"a" | "b", Date>([["a", at]])),
    object<object, { a: string; b: string }>({}, { a: string, b: string }),
  ),
  row(
    "Set",
    fc.array(bigint).map((items) => new Set(items)),
    list(string),
  ),
  row(
    "Set of dates or undefined",
    fc.array(maybeDate).map((items) => new Set(items)),
    list(either(string, nullValue)),
  ),
  row("Uint8Array", bytes, string),
  row(
    "Buffer",
    bytes.map((each) => Buffer.from(each)),
    string,
  ),
  row(
    "ArrayBuffer",
    bytes.map((each) => new Uint8Array(each).buffer),
    string,
  ),
  row(
    "SharedArrayBuffer",
    fc.nat(9).map((length) => new SharedArrayBuffer(length)),
    string,
  ),
  row(
    "DataView",
    bytes.map((each) => new DataView(new Uint8Array(each).buffer)),
    string,
  ),
  row("Float64Array", fc.float64Array({ noNaN: true, noDefaultInfinity: true }), list(number)),
  row("Int16Array", fc.int16Array(), list(number)),
  row("BigInt64Array", fc.bigInt64Array(), list(string)),
  row("class instance", point, object<{ x: number; at: string }>({ x: number, at: string })),
  row("class instance in a list", fc.array(point), list(object<{ x: number; at: string }>({ x: number, at: string }))),
  row(
    "error",
    fc.constant(new Failure("not sent")),
    object<{ code: "a" | "b"; at: string }>({ code: literal("a", "b"), at: string }),
  ),
  row("plain error", fc.constant(new Error("not sent")), object<object>({}) as Guard<Record<never, never>>),
  row(
    "object",
    fc.record({ at: date, n: double, tags: fc.array(bigint) }),
    object<{ at: string; n: number; tags: string[] }>({ at: string, n: number, tags: list(string) }),
  ),
  row(
    "object with members that may be absent",
    fc.record({ at: date, n: bigint }, { requiredKeys: ["at"] }) as fc.Arbitrary<{ at: Date; n?: bigint }>,
    object<{ at: string }, { n: string }>({ at: string }, { n: string }),
  ),
  row(
    "functions and symbols in an object",
    fc.record({ f: fn, s: symbol, c: fc.constant(Point), n: double }),
    object<{ n: number }>({ n: number }),
  ),
  row("functions and symbols in a list", fc.array(fc.oneof(fn, symbol)), list(nullValue)),
  row("list of dates or undefined", fc.array(maybeDate), list(either(string, nullValue))),
  row("tuple", fc.tuple(date, fc.constant(undefined), double), tuple(string, nullValue, number)),
  row("readonly list", fc.array(date) as fc.Arbitrary<readonly Date[]>, list(string)),
  row("record", fc.dictionary(text, date) as fc.Arbitrary<Record<string, Date>>, record(string)),
  row(
    "boxed number",
    double.map((n): InstanceType<typeof Number> => Object(n)),
    number,
  ),
  row(
    "boxed string",
    text.map((s): InstanceType<typeof String> => Object(s)),
    string,
  ),
  row(
    "boxed boolean",
    fc.boolean().map((b): InstanceType<typeof Boolean> => Object(b)),
    boolean,
  ),
  row(
    "union of objects",
    fc.oneof(
      date.map((at): Shape => ({ kind: "dot", at })),
      fc.constant<Shape>({ kind: "none" }),
    ),
    either(
      object<{ kind: "dot"; at: string }>({ kind: literal("dot"), at: string }),
      object<{ kind: "none" }>({ kind: literal("none") }),
    ),
  ),
];

/** The rows of `SerializedResult`. */
export const RESULTS: readonly Row[] = [
  result("undefined", fc.constant(undefined), nullValue),
  result("void", fc.constant(undefined) as fc.Arbitrary<void>, nullValue),
  result("Date or undefined", maybeDate, either(string, nullValue)),
  result("a function", fn, nullValue),
  result("a symbol", symbol, nullValue),
  result("a class", fc.constant(Point), nullValue),
  result("a number", double, number),
  result("an object", fc.record({ at: date }), object<{ at: string }>({ at: string })),
];
