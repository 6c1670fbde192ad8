/**
 * `Serialized`: the type of each value after serialisation. This file is compiled with the tests and never run.
 *
 * @see docs/protocol.md 5.1
 */

import { assertType, type Equal } from "#test/type-equality";
import type { Serialized } from "../../src/index.ts";

interface Tree {
  readonly at: Date;
  readonly children: readonly Tree[];
}

interface SentTree {
  at: string;
  children: SentTree[];
}

class Point {
  readonly x: number = 1;
  readonly at?: Date;
  private readonly hidden = 1;
  move(): number {
    return this.hidden;
  }
}

class Money {
  plus(other: Money): Money {
    return other;
  }
  toFixed(): string {
    return "";
  }
}

/** A branded string. */
type Branded = string & { readonly __brand: "feed" };

export function plain(): void {
  assertType<Equal<Serialized<string>, string>>();
  assertType<Equal<Serialized<"a" | 1 | true | null>, "a" | 1 | true | null>>();
  assertType<Equal<Serialized<Branded>, Branded>>();
  assertType<Equal<Serialized<unknown>, unknown>>();
  // biome-ignore lint/suspicious/noExplicitAny: the type any is tested
  assertType<Equal<Serialized<any>, any>>();
  assertType<Equal<Serialized<never>, never>>();
}

export function converted(): void {
  assertType<Equal<Serialized<bigint>, string>>();
  assertType<Equal<Serialized<Date>, string>>();
  assertType<Equal<Serialized<URL>, string>>();
  assertType<Equal<Serialized<Money>, string>>();
  assertType<Equal<Serialized<{ to_dict(): { at: Date }; toJSON(): number }>, { at: string }>>();
  assertType<Equal<Serialized<{ toJSON(): Date }>, string>>();
  assertType<Equal<Serialized<Map<string, Date>>, Record<string, string>>>();
  assertType<Equal<Serialized<Map<number, bigint>>, Record<string, string>>>();
  assertType<Equal<Serialized<Map<"a" | "b", Date>>, { a?: string; b?: string }>>();
  assertType<Equal<Serialized<ReadonlySet<Date>>, string[]>>();
  assertType<Equal<Serialized<Uint8Array>, string>>();
  assertType<Equal<Serialized<Buffer>, string>>();
  assertType<Equal<Serialized<ArrayBuffer>, string>>();
  assertType<Equal<Serialized<DataView>, string>>();
  assertType<Equal<Serialized<Float64Array>, number[]>>();
  assertType<Equal<Serialized<Uint8ClampedArray>, number[]>>();
  assertType<Equal<Serialized<BigInt64Array>, string[]>>();
}

export function objects(): void {
  assertType<Equal<Serialized<Point>, { x: number; at?: string }>>();
  assertType<Equal<Serialized<{ readonly a?: Date; b: Date | null }>, { a?: string; b: string | null }>>();
  assertType<Equal<Serialized<{ a: number; f(): void; s: symbol; u: undefined }>, { a: number }>>();
  assertType<Equal<Serialized<{ a: number; [Symbol.iterator]: number }>, { a: number }>>();
  assertType<Equal<Serialized<Record<string, Date>>, { [x: string]: string }>>();
  // biome-ignore lint/suspicious/noExplicitAny: the type any is tested
  assertType<Equal<Serialized<{ a: any; b: unknown }>, { a: any; b: unknown }>>();
  // The message and stack of an error are not enumerable.
  assertType<Equal<Serialized<Error>, Record<never, never>>>();
  assertType<Equal<Serialized<{ a: number; c: typeof Point }>, { a: number }>>();
  assertType<Equal<Serialized<Date | { at: Date } | undefined>, string | { at: string } | undefined>>();
  const tree: SentTree = null as unknown as Serialized<Tree>; // only the types are compared
  void tree;
}

export function lists(): void {
  assertType<Equal<Serialized<Date[]>, string[]>>();
  assertType<Equal<Serialized<readonly (Date | undefined)[]>, (string | null)[]>>();
  assertType<Equal<Serialized<(() => void)[]>, null[]>>();
  assertType<Equal<Serialized<readonly [Date, undefined, number]>, [string, null, number]>>();
  // biome-ignore lint/suspicious/noExplicitAny: the type any is tested
  assertType<Equal<Serialized<any[]>, any[]>>();
  assertType<Equal<Serialized<unknown[]>, unknown[]>>();
}

export function refused(): void {
  assertType<Equal<Serialized<Promise<number>>, never>>();
  assertType<Equal<Serialized<AsyncGenerator<number>>, never>>();
  assertType<Equal<Serialized<ReadableStream>, never>>();
  assertType<Equal<Serialized<Generator<number>>, never>>();
  assertType<Equal<Serialized<{ a: Promise<number>; b: Generator<number> | null }>, { a: never; b: null }>>();
}
