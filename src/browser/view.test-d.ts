import { type ComponentChildren, h } from "preact";
import type { Markup, Presence } from "../protocol/index.ts";
import { type View, view } from "./view.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function same<A, B>(_: Equal<A, B>): void {}

interface User {
  readonly name: string;
  readonly roles: readonly string[];
  readonly manager?: User;
}

// What `presence` returns is a prop, whatever state the view declares.
declare const here: Presence<{ name: string }, never>;
const People = view(({ here }: { here: Presence<{ name: string }> }) => here.channel);
const Typing = view(({ here }: { here: Presence<{ name: string }, { typing: boolean }> }) => here.channel);
People({ here });
Typing({ here });

// Props that are the same after JSON are accepted, and the view has the type of the component.
const Plain = view(({ n, user }: { n: number; user: User | null; tags?: string[] }) => h("p", null, n, user?.name));
same<typeof Plain, View<{ n: number; user: User | null; tags?: string[] }>>(true);
Plain({ n: 1, user: { name: "Ada", roles: [], manager: { name: "Grace", roles: ["admin"] } } });
const Without = view(() => null);
Without({});
view(({ of }: { of: "a" | "b" | 1 | true }) => of);
view(({ pair }: { pair: [string, number] }) => pair[0]);
view(({ any }: { any: unknown; record: Record<string, number> }) => String(any));
view(({ children }: { children: Markup }) => children);
view(({ children }: { children?: ComponentChildren }) => h("b", null, children));
function Generic<T extends string>({ value }: { value: T }): Markup {
  return value;
}
view(Generic<"a">);

// A view may return anything that Preact renders.
view(() => ["text", 1, null, undefined, false, h("p", null), [h("i", null)]]);

// @ts-expect-error a missing prop
Plain({ n: 1 });
// @ts-expect-error a prop of another type
Plain({ n: "1", user: null });
// @ts-expect-error a view that returns a promise
view(async () => h("p", null));
// @ts-expect-error a function cannot be sent as JSON
view(({ onPick }: { onPick: () => void }) => h("button", { onClick: onPick }));
// @ts-expect-error a Date is received as a string
view(({ at }: { at: Date }) => String(at));
// @ts-expect-error a Date in an object
view(({ user }: { user: { born: Date } }) => String(user.born));
// @ts-expect-error a Date in an array
view(({ dates }: { dates: Date[] }) => dates.length);
// @ts-expect-error a Map is received as an object
view(({ map }: { map: Map<string, number> }) => map.size);
// @ts-expect-error a bigint is received as a string
view(({ big }: { big: bigint }) => big);
