import type { ComponentChildren } from "preact";
import { h } from "preact";
import type { Markup } from "../protocol/index.ts";
import type { View } from "./view.ts";
import { view } from "./view.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function same<A, B>(_: Equal<A, B>): void {}

interface User {
  readonly name: string;
  readonly roles: readonly string[];
  readonly manager?: User;
}

// What travels as JSON is taken, and the type is the component's own.
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

// What is shown may be anything that Preact shows.
view(() => ["text", 1, null, undefined, false, h("p", null), [h("i", null)]]);

// @ts-expect-error a missing prop
Plain({ n: 1 });
// @ts-expect-error a prop of another type
Plain({ n: "1", user: null });
// @ts-expect-error a view that returns a promise
view(async () => h("p", null));
// @ts-expect-error a function does not travel
view(({ onPick }: { onPick: () => void }) => h("button", { onClick: onPick }));
// @ts-expect-error a Date arrives as a string
view(({ at }: { at: Date }) => String(at));
// @ts-expect-error nor does one inside of an object
view(({ user }: { user: { born: Date } }) => String(user.born));
// @ts-expect-error nor in a list
view(({ dates }: { dates: Date[] }) => dates.length);
// @ts-expect-error a Map arrives as an object
view(({ map }: { map: Map<string, number> }) => map.size);
// @ts-expect-error a bigint arrives as a string
view(({ big }: { big: bigint }) => big);
