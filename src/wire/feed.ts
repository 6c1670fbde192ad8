/** What the browser reads of a feed. */
export interface FeedFacts {
  readonly channel: string;
  /** The channel's position when the feed was issued: what came after it is for its holder. */
  readonly position: string;
}

/** Where the length of the position stands: after the version and the expiry. */
const LENGTH_AT = 5;
const TAG_BYTES = 8;
const MAC_BYTES = 16;

/**
 * Reads of a feed whose messages are meant for it, and from where on. Nothing is checked: whether it is
 * genuine, only the server can tell.
 *
 * @throws TypeError for what cannot be a feed
 * @see `writeFeed` in src/live, which lays it out
 */
export function readFeed(feed: string): FeedFacts {
  try {
    const bytes = atob(feed.replaceAll("-", "+").replaceAll("_", "/"));
    const start = LENGTH_AT + 1;
    const end = start + bytes.charCodeAt(LENGTH_AT);
    // The first bit says that it is bound to a sign-in, whose tag goes before the name.
    const nameAt = end + (bytes.charCodeAt(0) > 127 ? TAG_BYTES : 0);
    const name = Uint8Array.from(bytes.slice(nameAt, -MAC_BYTES), (byte) => byte.charCodeAt(0));
    const channel = new TextDecoder().decode(name);
    if (channel) return { channel, position: bytes.slice(start, end) };
  } catch {
    // It is not even base64: as below.
  }
  throw new TypeError("subscribe() takes a feed: what channel() gave the page");
}
