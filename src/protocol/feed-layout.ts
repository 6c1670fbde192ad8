/**
 * The layout of a feed: base64url of three lines of text and an HMAC. `live/feed.ts` signs and verifies it on the
 * server, `feed.ts` beside it reads it in the browser. The browser loads nothing of this file.
 *
 * @see docs/protocol.md 10.2
 */

/** The lines of a feed in their order. The bytes of the HMAC follow the last line feed; they are not text. */
export type FeedLines = readonly [header?: string, position?: string, channel?: string, ...mac: string[]];

/** The parts of a feed's text, which the HMAC signs. */
export interface FeedText {
  /** In seconds since the Unix epoch. */
  readonly expiresAt: number;
  /** Identifies the sign-in that the feed is valid for, in base64url; `null`: the feed is valid for every client. */
  readonly tag: string | null;
  readonly position: string;
  readonly channel: string;
}

const VERSION = "1";

/** The length of the tag in bytes. */
export const FEED_TAG_BYTES = 8;

/** The length of the HMAC in bytes. 128 bits cannot be guessed; a feed is short because it is part of URLs. */
export const FEED_MAC_BYTES = 16;

/** The maximum length of a position. */
const MAX_POSITION_CHARS = 40;

/** The maximum length of a channel's name, in bytes of UTF-8. */
export const MAX_CHANNEL_NAME_BYTES = 128;

const MAX_EXPIRY_CHARS = 8;
const TAG_CHARS = base64Length(FEED_TAG_BYTES);
const MAX_HEADER_CHARS = VERSION.length + MAX_EXPIRY_CHARS + ".".length + TAG_CHARS;
const LINE_FEEDS = 3;

/** The maximum length of a feed. */
export const MAX_FEED_CHARS = base64Length(
  MAX_HEADER_CHARS + MAX_POSITION_CHARS + MAX_CHANNEL_NAME_BYTES + LINE_FEEDS + FEED_MAC_BYTES,
);

const FEED_TEXT = new RegExp(
  `^${VERSION}([0-9a-z]{1,${MAX_EXPIRY_CHARS}})(?:\\.([A-Za-z0-9_-]{${TAG_CHARS}}))?\n` +
    `([0-9A-Za-z.-]{1,${MAX_POSITION_CHARS}})\n(.+)\n$`,
  "su",
);

/** Returns the text of a feed: its lines, each with a line feed at its end. */
export function formatFeedText({ expiresAt, tag, position, channel }: FeedText): string {
  const header = `${VERSION}${expiresAt.toString(36)}${tag === null ? "" : `.${tag}`}`;
  const lines: FeedLines = [header, position, channel];
  return `${lines.join("\n")}\n`;
}

/** Parses the text of a feed; `null` for any other text, that of another version included. */
export function parseFeedText(text: string): FeedText | null {
  const [, expiry = "", tag = null, position, channel] = FEED_TEXT.exec(text) ?? [];
  if (position === undefined || channel === undefined) return null;
  return { expiresAt: Number.parseInt(expiry, 36), tag, position, channel };
}

/** Returns how many characters of base64url, without padding, a number of bytes has. */
function base64Length(bytes: number): number {
  return Math.ceil((bytes * 4) / 3);
}
