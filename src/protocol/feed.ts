/**
 * Feeds as the browser has them: without a key, it reads them and verifies nothing.
 *
 * @see docs/protocol.md 10.2
 */
import type { FeedLines } from "./feed-layout.ts";

declare const brand: unique symbol;

/**
 * A signed token that allows a page to subscribe to one channel, whose messages have this type. It is a string: a page
 * gets it from `channel(name)` and passes it to a view as a prop.
 *
 * The type is used on the server and in the browser. The server writes and verifies the text of a feed in live/; the
 * browser reads the position and the channel from it with `readFeed` and verifies nothing.
 *
 * @see docs/protocol.md 10.2
 */
export type Feed<T = unknown> = string & { readonly [brand]: T };

/** The fields of a feed that the browser uses. */
export interface FeedContent {
  readonly channel: string;
  /** The channel's position when the feed was issued. The feed covers the messages after it. */
  readonly position: string;
}

/**
 * Returns the channel and the position of a feed. Only the server can verify a feed.
 *
 * @throws TypeError if the text cannot be a feed
 */
export function readFeed(feed: string): FeedContent {
  try {
    const text = atob(feed.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(text, (byte) => byte.charCodeAt(0));
    // The HMAC is not UTF-8 text. It is behind the last line break, so decoding it does no harm.
    const [, position, channel]: FeedLines = new TextDecoder().decode(bytes).split("\n");
    if (position && channel) return { position, channel };
  } catch {
    // Not base64: handled below.
  }
  throw new TypeError(
    `subscribe() needs a feed of channel()${process.env.NODE_ENV === "production" ? "" : feedAdvice(feed)}`,
  );
}

/** Returns what to write instead of a value that is no feed. In development only. */
function feedAdvice(value: unknown): string {
  const isName = typeof value === "string" && value.length < 100;
  const name = isName ? JSON.stringify(value) : '"name"';
  const received = isName ? name : `a value of type ${value === null ? "null" : typeof value}`;
  return (
    `, and received ${received}. Create the feed in the page, and pass it to the view as a prop: ` +
    `\`feed={await channel(${name})}\`. In the view, call subscribe(feed, handler).`
  );
}
