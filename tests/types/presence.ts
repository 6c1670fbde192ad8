/** The types of presence: from what the server passes to what a view reads. This file is compiled with the tests and never run. */

import { assertType, type Equal } from "#test/type-equality";
import { type Presence, present } from "../../src/browser/index.ts";
import { presence, who } from "../../src/index.ts";

interface Shown {
  name: string;
  since: Date;
}

export async function onServer(): Promise<void> {
  const here = await presence("board:1", { name: "Ada", since: new Date() });
  assertType<Equal<(typeof here.list)[number]["data"], { name: string; since: string }>>();
  const bare = await presence("board:1");
  assertType<Equal<(typeof bare.list)[number]["data"], null>>();
  const [person] = await who<Shown>("board:1");
  assertType<Equal<NonNullable<typeof person>["data"], { name: string; since: string }>>();
  assertType<Equal<NonNullable<typeof person>["state"], unknown>>();
  // What the server passes suits a view with the state that it expects.
  const view: Presence<{ name: string; since: Date }, { typing: boolean }> = here;
  // @ts-expect-error: the data have no such type
  const other: Presence<{ name: number }, { typing: boolean }> = here;
  inView(view);
  assertType<Equal<typeof other.token, string>>();
}

function inView(here: Presence<{ name: string; since: Date }, { typing: boolean }>): void {
  const people = present(here);
  const [person] = people.list;
  assertType<Equal<NonNullable<typeof person>["data"], { name: string; since: string }>>();
  assertType<Equal<NonNullable<typeof person>["state"], { typing: boolean } | null>>();
  people.set({ typing: true });
  // @ts-expect-error: the state has another type
  people.set({ typing: 1 });
  // @ts-expect-error: the list is read-only
  people.list.push(person);
}
