/** The types of server functions for their callers. This file is compiled with the tests and never run. */
import { type } from "arktype";
import * as v from "valibot";
import { z } from "zod";
import { assertType, type Equal } from "#test/type-equality";
import {
  type Call,
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
  assertType<Equal<Result<typeof sync>, Call<number>>>();
  assertType<Equal<Result<typeof later>, Call<string>>>();
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
  const anythingLater = server(async () => JSON.parse("1"));
  const anythings = server(async function* () {
    yield JSON.parse("1");
  });
  const anyField = server(async () => ({ body: JSON.parse("1") }));
  const unknown = server((): unknown => 1);
  const never = server((): never => {
    throw new Error();
  });
  assertType<Equal<Result<typeof nothing>, Call<null>>>();
  assertType<Equal<Result<typeof laterNothing>, Call<null>>>();
  assertType<Equal<Result<typeof maybe>, Call<number | null>>>();
  assertType<Equal<Result<typeof date>, Call<{ at: string; tags: string[] }>>>();
  assertType<Equal<Result<typeof list>, Call<number[]>>>();
  // biome-ignore lint/suspicious/noExplicitAny: the type any is tested
  assertType<Equal<Result<typeof anything>, Call<any>>>();
  // biome-ignore lint/suspicious/noExplicitAny: as above
  assertType<Equal<Result<typeof anythingLater>, Call<any>>>();
  // biome-ignore lint/suspicious/noExplicitAny: as above
  assertType<Equal<Result<typeof anythings>, Stream<any>>>();
  // biome-ignore lint/suspicious/noExplicitAny: as above
  assertType<Equal<Result<typeof anyField>, Call<{ body: any }>>>();
  assertType<Equal<Result<typeof unknown>, Call<unknown>>>();
  assertType<Equal<Result<typeof never>, Call<never>>>();
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
  assertType<Equal<Result<typeof admin>, Call<number>>>();
  const typed: ServerFunction<[a: int], number> = admin;
  void typed;
}

export async function cancelledCalls(): Promise<void> {
  const search = server(async (text: string) => [text]);
  const call = search("te");
  // A call can be passed on as a promise, and cancelled through a reference.
  const promise: Promise<string[]> = call;
  const { cancel } = call;
  assertType<Equal<typeof cancel, () => void>>();
  search.named({ text: "te" }).cancel();
  const results: string[] = await promise;
  void results;
  // @ts-expect-error: the promise of then() belongs to no call
  call.then(() => 1).cancel();
  // @ts-expect-error: any other promise is not a call
  const other: Call<number> = Promise.resolve(1);
  void other;
  // A function that returns the call of another one awaits it.
  const twice = server(() => search("te"));
  assertType<Equal<Result<typeof twice>, Call<string[]>>>();
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
  assertType<Equal<Result<typeof wrong>, Call<never>>>();
}

export function schemas(): void {
  const schema = z.string().transform((text) => new Date(text));
  // Callers pass the output type of the schema. A Date is sent as a string.
  const on = server({ validate: { at: schema } }, (at: z.output<typeof schema>) => at);
  assertType<Equal<Parameters<typeof on>, [at: Date]>>();
  assertType<Equal<Result<typeof on>, Call<string>>>();
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
  // With `returns`, callers receive the output type of the schema.
  const user = server({ returns: z.object({ at: z.date() }) }, (id: int) => ({ id, at: new Date(), hash: "x" }));
  assertType<Equal<Result<typeof user>, Call<{ at: string }>>>();
  assertType<Equal<Parameters<typeof user>, [id: number]>>();
  const users = server({ auth_required: true, returns: v.string() }, async function* () {
    yield "a";
  });
  assertType<Equal<Result<typeof users>, Stream<string>>>();
  const parsed = server({ returns: type("number") }, () => JSON.parse("1"));
  assertType<Equal<Result<typeof parsed>, Call<number>>>();
  // @ts-expect-error: this is not a schema
  server({ returns: "string" }, () => "");
  const any: readonly StandardSchema[] = [z.string(), z.promise(z.string()), v.pipeAsync(v.string()), type("string")];
  void any;
  // @ts-expect-error: this is not a schema
  server({ validate: { at: (text: string) => text } }, (at: string) => at);
  // @ts-expect-error: this is not a schema
  server({ validate: { at: "string" } }, (at: string) => at);
}
