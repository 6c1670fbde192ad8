/** What the browser reads of a feed. */
export interface FeedFacts {
  readonly channel: string;
  /** The channel's position when the feed was issued: what came after it is for its holder. */
  readonly position: string;
}

/**
 * Reads of a feed whose messages are meant for it, and from where on. Nothing is checked: whether it is
 * genuine, only the server can tell.
 *
 * @throws TypeError for what cannot be a feed
 * @see src/feed.ts, for how it is laid out
 */
export function readFeed(feed: string): FeedFacts {
  try {
    const text = atob(feed.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(text, (byte) => byte.charCodeAt(0));
    // The HMAC is no text. It comes last, where it disturbs nothing.
    const [, position, channel] = new TextDecoder().decode(bytes).split("\n");
    if (position && channel) return { position, channel };
  } catch {
    // It is not even base64: as below.
  }
  throw new TypeError("subscribe() takes what channel() gave");
}
