import type { Feed } from "../protocol/index.ts";
import { on_mount, subscribe, view } from "./index.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function same<A, B>(_: Equal<A, B>): void {}

declare const messages: Feed<{ id: number; at: Date; big: bigint }>;
declare const anything: Feed;
declare const changes: Feed<undefined>;

// A message has the type of its JSON.
const stop = subscribe(messages, (message) => {
  same<typeof message, { id: number; at: string; big: string }>(true);
});
same<typeof stop, () => void>(true);
subscribe(anything, (message) => same<typeof message, unknown>(true));
// A message without data.
subscribe(changes, (message) => same<typeof message, null>(true));
subscribe(messages, async ({ id }) => id);
subscribe(messages, () => {}, { gap: (reason) => same<typeof reason, "trimmed" | "reset" | "expired">(true) });
on_mount(() => subscribe(messages, () => {}));

// A feed is a string, so it can be a prop.
view(({ feed }: { feed: Feed<{ id: number }> }) => {
  on_mount(() => subscribe(feed, ({ id }) => same<typeof id, number>(true)));
  return feed;
});

// @ts-expect-error a channel name is not a feed
subscribe("room:1", () => {});
// @ts-expect-error a handler for another message type
subscribe(messages, (message: { id: string }) => message.id);
// @ts-expect-error a feed of another message type
const other: Feed<string> = messages;
// @ts-expect-error an unknown option
subscribe(messages, () => other, { retry: 3 });
