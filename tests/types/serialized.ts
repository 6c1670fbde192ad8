/** What arrives of each type: the rows of the serialiser, said in types. Compiled, never run. */

import { is, type Same } from "#test/same";
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

/** A piece of text with a name of its own. */
type Branded = string & { readonly __brand: "feed" };

export function plain(): void {
  is<Same<Serialized<string>, string>>();
  is<Same<Serialized<"a" | 1 | true | null>, "a" | 1 | true | null>>();
  is<Same<Serialized<Branded>, Branded>>();
  is<Same<Serialized<unknown>, unknown>>();
  // biome-ignore lint/suspicious/noExplicitAny: it is what is tested
  is<Same<Serialized<any>, any>>();
  is<Same<Serialized<never>, never>>();
}

export function converted(): void {
  is<Same<Serialized<bigint>, string>>();
  is<Same<Serialized<Date>, string>>();
  is<Same<Serialized<URL>, string>>();
  is<Same<Serialized<Money>, string>>();
  is<Same<Serialized<{ to_dict(): { at: Date }; toJSON(): number }>, { at: string }>>();
  is<Same<Serialized<{ toJSON(): Date }>, string>>();
  is<Same<Serialized<Map<string, Date>>, Record<string, string>>>();
  is<Same<Serialized<Map<number, bigint>>, Record<string, string>>>();
  is<Same<Serialized<Map<"a" | "b", Date>>, { a?: string; b?: string }>>();
  is<Same<Serialized<ReadonlySet<Date>>, string[]>>();
  is<Same<Serialized<Uint8Array>, string>>();
  is<Same<Serialized<Buffer>, string>>();
  is<Same<Serialized<ArrayBuffer>, string>>();
  is<Same<Serialized<DataView>, string>>();
  is<Same<Serialized<Float64Array>, number[]>>();
  is<Same<Serialized<Uint8ClampedArray>, number[]>>();
  is<Same<Serialized<BigInt64Array>, string[]>>();
}

export function objects(): void {
  is<Same<Serialized<Point>, { x: number; at?: string }>>();
  is<Same<Serialized<{ readonly a?: Date; b: Date | null }>, { a?: string; b: string | null }>>();
  is<Same<Serialized<{ a: number; f(): void; s: symbol; u: undefined }>, { a: number }>>();
  is<Same<Serialized<{ a: number; [Symbol.iterator]: number }>, { a: number }>>();
  is<Same<Serialized<Record<string, Date>>, { [x: string]: string }>>();
  // biome-ignore lint/suspicious/noExplicitAny: it is what is tested
  is<Same<Serialized<{ a: any; b: unknown }>, { a: any; b: unknown }>>();
  // An error's text is in no field that is enumerated, and its stack is for nobody.
  is<Same<Serialized<Error>, Record<never, never>>>();
  is<Same<Serialized<{ a: number; c: typeof Point }>, { a: number }>>();
  is<Same<Serialized<Date | { at: Date } | undefined>, string | { at: string } | undefined>>();
  const tree: SentTree = null as unknown as Serialized<Tree>;
  void tree;
}

export function lists(): void {
  is<Same<Serialized<Date[]>, string[]>>();
  is<Same<Serialized<readonly (Date | undefined)[]>, (string | null)[]>>();
  is<Same<Serialized<(() => void)[]>, null[]>>();
  is<Same<Serialized<readonly [Date, undefined, number]>, [string, null, number]>>();
  // biome-ignore lint/suspicious/noExplicitAny: it is what is tested
  is<Same<Serialized<any[]>, any[]>>();
  is<Same<Serialized<unknown[]>, unknown[]>>();
}

export function refused(): void {
  is<Same<Serialized<Promise<number>>, never>>();
  is<Same<Serialized<AsyncGenerator<number>>, never>>();
  is<Same<Serialized<ReadableStream>, never>>();
  is<Same<Serialized<Generator<number>>, never>>();
  is<Same<Serialized<{ a: Promise<number>; b: Generator<number> | null }>, { a: never; b: null }>>();
}
