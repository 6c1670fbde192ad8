/** What a browser reads of a feed. */
export interface FeedFacts {
  readonly channel: string;
  /** The channel's position when the page was rendered: what came after it is for this page. */
  readonly position: string;
}

/**
 * Reads a feed as far as its holder needs it. Nothing is checked: only the server can tell whether it is genuine.
 *
 * @throws TypeError for what cannot be a feed
 */
export function readFeed(feed: string): FeedFacts {
  try {
    const text = atob(feed.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(text, (byte) => byte.charCodeAt(0));
    // The HMAC is no text: it comes last, where it disturbs nothing.
    const [, position, channel] = new TextDecoder().decode(bytes).split("\n");
    if (position && channel) return { position, channel };
  } catch {
    // Not base64: as below.
  }
  throw new TypeError("subscribe() takes a feed: what channel() gave the page");
}
