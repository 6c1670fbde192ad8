/** What the types of server functions promise their callers: compiled with everything else, never run. */
import { type } from "arktype";
import * as v from "valibot";
import { z } from "zod";
import { is, type Same } from "#test/same";
import {
  type float,
  type int,
  type ServerFunction,
  type StandardSchema,
  type Stream,
  server,
} from "../../src/index.ts";

/** What a call of a function gives. */
type Result<F> = F extends (...args: never[]) => infer R ? R : never;

export function kinds(): void {
  const sync = server((a: int) => a);
  const later = server(async (a: int) => String(a));
  const generator = server(function* (from: int) {
    yield from;
    return "not sent";
  });
  const asyncGenerator = server(async function* () {
    yield new Date();
  });
  is<Same<Result<typeof sync>, Promise<number>>>();
  is<Same<Result<typeof later>, Promise<string>>>();
  is<Same<Result<typeof generator>, Stream<number>>>();
  is<Same<Result<typeof asyncGenerator>, Stream<string>>>();

  const annotated = server(async function* (): AsyncIterableIterator<Date> {
    yield new Date();
  });
  const iterator = server(function* (): IterableIterator<bigint> {
    yield 1n;
  });
  is<Same<Result<typeof annotated>, Stream<string>>>();
  is<Same<Result<typeof iterator>, Stream<string>>>();

  const promises = server(function* () {
    yield Promise.resolve(new Date());
  });
  is<Same<Result<typeof promises>, Stream<string>>>();
  const nothings = server(function* () {
    yield undefined;
  });
  is<Same<Result<typeof nothings>, Stream<null>>>();
}

export function results(): void {
  const nothing = server(() => {});
  const laterNothing = server(async () => {});
  const maybe = server((a: int) => (a > 0 ? a : undefined));
  const date = server(() => ({ at: new Date(), tags: new Set(["a"]) }));
  const list = server(() => [1, 2]);
  const anything = server(() => JSON.parse("1"));
  const unknown = server((): unknown => 1);
  const never = server((): never => {
    throw new Error();
  });
  is<Same<Result<typeof nothing>, Promise<null>>>();
  is<Same<Result<typeof laterNothing>, Promise<null>>>();
  is<Same<Result<typeof maybe>, Promise<number | null>>>();
  is<Same<Result<typeof date>, Promise<{ at: string; tags: string[] }>>>();
  is<Same<Result<typeof list>, Promise<number[]>>>();
  // biome-ignore lint/suspicious/noExplicitAny: it is what is tested
  is<Same<Result<typeof anything>, Promise<any>>>();
  is<Same<Result<typeof unknown>, Promise<unknown>>>();
  is<Same<Result<typeof never>, Promise<never>>>();
}

export function parameters(): void {
  const buy = server((item: string, quantity: int = 1, gift?: boolean) => [item, quantity, gift]);
  is<Same<Parameters<typeof buy>, [item: string, quantity?: number | undefined, gift?: boolean | undefined]>>();
  void buy("apple");
  void buy("apple", 2, true);
  void buy.named({ item: "apple" });
  // @ts-expect-error: item is required
  void buy();
  // @ts-expect-error: of another type
  void buy(1);
  // @ts-expect-error: of another type
  void buy("apple", "2");
  // @ts-expect-error: it takes three
  void buy("apple", 2, true, 4);

  const keyed = server(({ item, quantity = 1 }: { item: string; quantity?: int }) => [item, quantity]);
  void keyed({ item: "apple" });
  // @ts-expect-error: item is required
  void keyed({});
  // @ts-expect-error: no such parameter
  void keyed({ item: "apple", price: 1 });

  const inferred = server((a: float, b = 10) => a + b);
  is<Same<Parameters<typeof inferred>, [a: number, b?: number | undefined]>>();

  // @ts-expect-error: a parameter has a type
  server((a) => a);
  // @ts-expect-error: no such option
  server({ authRequired: true }, () => 1);
  // @ts-expect-error: not a function
  server(1);
  // @ts-expect-error: options come first
  server(() => 1, { auth_required: true });

  const admin = server({ auth_required: true }, (a: int) => a);
  is<Same<Result<typeof admin>, Promise<number>>>();
  const typed: ServerFunction<[a: int], number> = admin;
  void typed;
}

export async function streams(): Promise<void> {
  const count = server(function* (to: int) {
    yield to;
  });
  const stream = count(3);
  for await (const n of stream) is<Same<typeof n, number>>();
  stream.cancel();
  // @ts-expect-error: a stream is no promise
  void stream.then;
}

/** A stream is what `function*` makes; one that is handed on is nothing that can arrive. */
export function handedOn(): void {
  const count = server(function* (to: int) {
    yield to;
  });
  const wrong = server(() => count(3));
  is<Same<Result<typeof wrong>, Promise<never>>>();
}

export function schemas(): void {
  const schema = z.string().transform((text) => new Date(text));
  // What a schema makes is what the function gets, and callers give the same: a Date travels as its text.
  const on = server({ validate: { at: schema } }, (at: z.output<typeof schema>) => at);
  is<Same<Parameters<typeof on>, [at: Date]>>();
  is<Same<Result<typeof on>, Promise<string>>>();
  const keyed = server(
    { validate: { email: v.pipe(v.string(), v.email()), age: type("number > 0") } },
    ({ email, age = 1 }: { email: string; age?: int }) => `${email}${age}`,
  );
  is<Same<Parameters<typeof keyed>, [{ email: string; age?: int }]>>();
  const stream = server({ validate: { to: z.number() } }, async function* (to: int = 3) {
    yield to;
  });
  is<Same<Result<typeof stream>, Stream<number>>>();
  is<Same<Parameters<typeof stream>, [to?: number | undefined]>>();
  const any: readonly StandardSchema[] = [z.string(), z.promise(z.string()), v.pipeAsync(v.string()), type("string")];
  void any;
  // @ts-expect-error: no schema
  server({ validate: { at: (text: string) => text } }, (at: string) => at);
  // @ts-expect-error: no schema
  server({ validate: { at: "string" } }, (at: string) => at);
}
