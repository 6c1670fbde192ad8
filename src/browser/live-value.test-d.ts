import type { RPCError } from "../errors.ts";
import type { LiveHandle, Serialized } from "../protocol/index.ts";
import { type Draft, type Live, live, type no_wait, optimistic, view } from "./index.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function same<A, B>(_: Equal<A, B>): void {}

interface Card {
  readonly id: string;
  title: string;
}
declare const cards: LiveHandle<Card[]>;
declare const count: LiveHandle<number>;
declare const returned: Serialized<LiveHandle<Card[]>>;
declare function add(id: string): Promise<number>;

view(({ handle }: { handle: LiveHandle<Card[]> }) => {
  const list = live(handle);
  same<typeof list, Live<Card[]>>(true);
  same<typeof list.value, Card[]>(true);
  same<typeof list.error, RPCError | undefined>(true);
  same<typeof list.pending, readonly Draft[]>(true);
  same<Draft["state"], "sent" | "unknown">(true);
  return list.value.length;
});

// The value has the type of the handle, also of one that a server function has returned.
same<Live<number>, ReturnType<typeof live<number>>>(true);
const number = live(count).value;
same<typeof number, number>(true);
const later = live(returned).value;
same<typeof later, { id: string; title: string }[]>(true);

// A change is of the value, and the result that of the call.
const list = live(cards);
const result = optimistic(
  list,
  (draft) => draft.push({ id: "1", title: "" }),
  () => add("1"),
);
same<typeof result, Promise<number>>(true);
same<ReturnType<typeof no_wait<Promise<number>>>, Promise<number>>(true);

declare function change(): void;
// @ts-expect-error a row without its members
optimistic(list, (draft) => draft.push({ id: "1" }), change);
// @ts-expect-error the value cannot be assigned
list.value = [];
// @ts-expect-error no handle
live("board:1");
// @ts-expect-error no list of live
optimistic(cards, change, change);
// @ts-expect-error a handle of another value
const other: LiveHandle<string> = cards;
live(other);
