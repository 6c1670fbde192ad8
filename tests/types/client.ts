/** The types of `tsweb/client` and `tsweb/testing`. This file is compiled with the tests and never run. */

import { assertType, type Equal } from "#test/type-equality";
import { type Client, client } from "../../src/client/index.ts";
import { type int, type Stream, server } from "../../src/index.ts";
import type { Visitor } from "../../src/testing/index.ts";

const shop = {
  add: server((a: int, b: int = 1) => a + b),
  order: server(({ item, quantity = 1 }: { item: string; quantity?: int }) => ({ item, quantity, at: new Date() })),
  countdown: server(async function* (from: int) {
    yield from;
  }),
  prices: { tea: 3 },
  helper: (text: string) => text,
};

export async function calls(): Promise<void> {
  const api = client<typeof shop>("http://localhost:3000");
  assertType<Equal<keyof typeof api, "add" | "order" | "countdown">>();
  assertType<Equal<typeof api.add, typeof shop.add>>();
  const sum = await api.add(1);
  assertType<Equal<typeof sum, number>>();
  const { cancel } = api.add(1, 2);
  assertType<Equal<typeof cancel, () => void>>();
  const ordered = await api.order({ item: "tea" });
  assertType<Equal<typeof ordered, { item: string; quantity: number; at: string }>>();
  const stream = api.countdown(3);
  assertType<Equal<typeof stream, Stream<number>>>();
  const named = await api.order.named({ item: "tea" });
  assertType<Equal<typeof named, typeof ordered>>();

  // @ts-expect-error: an argument is missing
  api.add();
  // @ts-expect-error: the argument has the wrong type
  api.add("1");
  // @ts-expect-error: there is one argument too many
  api.add(1, 2, 3);
  // @ts-expect-error: unknown parameter
  api.order({ item: "tea", colour: "green" });
  // @ts-expect-error: a stream is not a promise
  api.countdown(3).then;
  // @ts-expect-error: unknown function
  api.subtract;
  // @ts-expect-error: not a server function
  api.helper("a");
  // @ts-expect-error: the functions are read-only
  api.add = shop.add;
}

export function options(): void {
  client<typeof shop>(new URL("http://localhost:3000/shop"), { timeout: 3, headers: { "x-service": "billing" } });
  client<typeof shop>("http://localhost:3000", { fetch, signal: AbortSignal.timeout(1000) });
  // @ts-expect-error: the timeout is a number of seconds
  client<typeof shop>("http://localhost:3000", { timeout: "3s" });
  // @ts-expect-error: without the type of a module there are no functions
  client("http://localhost:3000").add;
}

export async function simulatedUser(user: Visitor): Promise<void> {
  assertType<Equal<ReturnType<typeof user.client<typeof shop>>, Client<typeof shop>>>();
  user.rpc("add").cancel();
  const result = await user.rpc("add", { a: 1 });
  assertType<Equal<typeof result, unknown>>();
  const { status, text, location } = await user.get("/", { follow: true });
  assertType<Equal<[typeof status, typeof text, typeof location], [number, string, string | null]>>();
  user.login("ada");
  user.login("ada", { roles: ["admin"] });
  // @ts-expect-error: a Date is not a claim
  user.login("ada", { born: new Date() });
  // @ts-expect-error: the cookies are read-only
  user.cookies.theme = "dark";
}
