/** The types of server functions for their callers. This file is compiled with the tests and never run. */
import { type } from "arktype";
import * as v from "valibot";
import { z } from "zod";
import { assertType, type Equal } from "#test/type-equality";
import {
  type float,
  type int,
  type ServerFunction,
  type StandardSchema,
  type Stream,
  server,
} from "../../src/index.ts";

/** The type that a call returns. */
type Result<F> = F extends (...args: never[]) => infer R ? R : never;

export function functionKinds(): void {
  const sync = server((a: int) => a);
  const later = server(async (a: int) => String(a));
  const generator = server(function* (from: int) {
    yield from;
    return "not sent";
  });
  const asyncGenerator = server(async function* () {
    yield new Date();
  });
  assertType<Equal<Result<typeof sync>, Promise<number>>>();
  assertType<Equal<Result<typeof later>, Promise<string>>>();
  assertType<Equal<Result<typeof generator>, Stream<number>>>();
  assertType<Equal<Result<typeof asyncGenerator>, Stream<string>>>();

  const annotated = server(async function* (): AsyncIterableIterator<Date> {
    yield new Date();
  });
  const iterator = server(function* (): IterableIterator<bigint> {
    yield 1n;
  });
  assertType<Equal<Result<typeof annotated>, Stream<string>>>();
  assertType<Equal<Result<typeof iterator>, Stream<string>>>();

  const promises = server(function* () {
    yield Promise.resolve(new Date());
  });
  assertType<Equal<Result<typeof promises>, Stream<string>>>();
  const nothings = server(function* () {
    yield undefined;
  });
  assertType<Equal<Result<typeof nothings>, Stream<null>>>();
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
  assertType<Equal<Result<typeof nothing>, Promise<null>>>();
  assertType<Equal<Result<typeof laterNothing>, Promise<null>>>();
  assertType<Equal<Result<typeof maybe>, Promise<number | null>>>();
  assertType<Equal<Result<typeof date>, Promise<{ at: string; tags: string[] }>>>();
  assertType<Equal<Result<typeof list>, Promise<number[]>>>();
  // biome-ignore lint/suspicious/noExplicitAny: the type any is tested
  assertType<Equal<Result<typeof anything>, Promise<any>>>();
  assertType<Equal<Result<typeof unknown>, Promise<unknown>>>();
  assertType<Equal<Result<typeof never>, Promise<never>>>();
}

export function parameters(): void {
  const buy = server((item: string, quantity: int = 1, gift?: boolean) => [item, quantity, gift]);
  assertType<
    Equal<Parameters<typeof buy>, [item: string, quantity?: number | undefined, gift?: boolean | undefined]>
  >();
  void buy("apple");
  void buy("apple", 2, true);
  void buy.named({ item: "apple" });
  // @ts-expect-error: item is required
  void buy();
  // @ts-expect-error: the argument has the wrong type
  void buy(1);
  // @ts-expect-error: the argument has the wrong type
  void buy("apple", "2");
  // @ts-expect-error: there is one argument too many
  void buy("apple", 2, true, 4);

  const keyed = server(({ item, quantity = 1 }: { item: string; quantity?: int }) => [item, quantity]);
  void keyed({ item: "apple" });
  // @ts-expect-error: item is required
  void keyed({});
  // @ts-expect-error: unknown parameter
  void keyed({ item: "apple", price: 1 });

  const inferred = server((a: float, b = 10) => a + b);
  assertType<Equal<Parameters<typeof inferred>, [a: number, b?: number | undefined]>>();

  // @ts-expect-error: a parameter needs a type
  server((a) => a);
  // @ts-expect-error: unknown option
  server({ authRequired: true }, () => 1);
  // @ts-expect-error: not a function
  server(1);
  // @ts-expect-error: the options are the first argument
  server(() => 1, { auth_required: true });

  const admin = server({ auth_required: true }, (a: int) => a);
  assertType<Equal<Result<typeof admin>, Promise<number>>>();
  const typed: ServerFunction<[a: int], number> = admin;
  void typed;
}

export async function streams(): Promise<void> {
  const count = server(function* (to: int) {
    yield to;
  });
  const stream = count(3);
  for await (const n of stream) assertType<Equal<typeof n, number>>();
  stream.cancel();
  // @ts-expect-error: a stream is not a promise
  void stream.then;
}

/** A function that returns the stream of another function cannot be called. Only `function*` makes a stream. */
export function returnedStream(): void {
  const count = server(function* (to: int) {
    yield to;
  });
  const wrong = server(() => count(3));
  assertType<Equal<Result<typeof wrong>, Promise<never>>>();
}

export function schemas(): void {
  const schema = z.string().transform((text) => new Date(text));
  // Callers pass the output type of the schema. A Date is sent as a string.
  const on = server({ validate: { at: schema } }, (at: z.output<typeof schema>) => at);
  assertType<Equal<Parameters<typeof on>, [at: Date]>>();
  assertType<Equal<Result<typeof on>, Promise<string>>>();
  const keyed = server(
    { validate: { email: v.pipe(v.string(), v.email()), age: type("number > 0") } },
    ({ email, age = 1 }: { email: string; age?: int }) => `${email}${age}`,
  );
  assertType<Equal<Parameters<typeof keyed>, [{ email: string; age?: int }]>>();
  const stream = server({ validate: { to: z.number() } }, async function* (to: int = 3) {
    yield to;
  });
  assertType<Equal<Result<typeof stream>, Stream<number>>>();
  assertType<Equal<Parameters<typeof stream>, [to?: number | undefined]>>();
  const any: readonly StandardSchema[] = [z.string(), z.promise(z.string()), v.pipeAsync(v.string()), type("string")];
  void any;
  // @ts-expect-error: this is not a schema
  server({ validate: { at: (text: string) => text } }, (at: string) => at);
  // @ts-expect-error: this is not a schema
  server({ validate: { at: "string" } }, (at: string) => at);
}
