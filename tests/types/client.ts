/** What the types of callers from elsewhere promise: compiled with everything else, never run. */

import { is, type Same } from "#test/same";
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
  is<Same<keyof typeof api, "add" | "order" | "countdown">>();
  is<Same<typeof api.add, typeof shop.add>>();
  const sum = await api.add(1);
  is<Same<typeof sum, number>>();
  const ordered = await api.order({ item: "tea" });
  is<Same<typeof ordered, { item: string; quantity: number; at: string }>>();
  const stream = api.countdown(3);
  is<Same<typeof stream, Stream<number>>>();
  const named = await api.order.named({ item: "tea" });
  is<Same<typeof named, typeof ordered>>();

  // @ts-expect-error: a missing argument
  api.add();
  // @ts-expect-error: of another type
  api.add("1");
  // @ts-expect-error: one too many
  api.add(1, 2, 3);
  // @ts-expect-error: a key that it does not take
  api.order({ item: "tea", colour: "green" });
  // @ts-expect-error: a stream is no promise
  api.countdown(3).then;
  // @ts-expect-error: no such function
  api.subtract;
  // @ts-expect-error: not a server function
  api.helper("a");
  // @ts-expect-error: what it has is not to be replaced
  api.add = shop.add;
}

export function options(): void {
  client<typeof shop>(new URL("http://localhost:3000/shop"), { timeout: 3, headers: { "x-service": "billing" } });
  client<typeof shop>("http://localhost:3000", { fetch, signal: AbortSignal.timeout(1000) });
  // @ts-expect-error: seconds are a number
  client<typeof shop>("http://localhost:3000", { timeout: "3s" });
  // @ts-expect-error: without a module's type there is nothing to call
  client("http://localhost:3000").add;
}

export async function visitors(guest: Visitor): Promise<void> {
  is<Same<ReturnType<typeof guest.client<typeof shop>>, Client<typeof shop>>>();
  const found = await guest.rpc("add", { a: 1 });
  is<Same<typeof found, unknown>>();
  const { status, text, location } = await guest.get("/", { follow: true });
  is<Same<[typeof status, typeof text, typeof location], [number, string, string | null]>>();
  guest.login("ada");
  guest.login("ada", { roles: ["admin"] });
  // @ts-expect-error: a Date is no claim
  guest.login("ada", { born: new Date() });
  // @ts-expect-error: cookies are the application's to set
  guest.cookies.seen = "1";
}
