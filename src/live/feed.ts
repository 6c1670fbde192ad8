import { POSITION_PATTERN, type Position } from "../backends/index.ts";
import type { RequestContext } from "../http/index.ts";
import { FEED_MAC_BYTES, formatFeedText, isLater, MAX_FEED_CHARS, parseFeedText } from "../protocol/index.ts";
import { constantTimeEqual, hmacSha256, keysFor, type PurposeKeys, sessionTag } from "../session/index.ts";

/** The content of a feed: the permission to receive the messages of a channel, from a position on. */
export interface FeedPayload {
  readonly channel: string;
  readonly position: Position;
  /** The id of the sign-in that the feed is issued to; `null` for a signed-out client. */
  readonly sid: string | null;
  /** In whole seconds since the Unix epoch. */
  readonly expiresAt: number;
}

/** The request that presents a feed. */
export interface FeedPresenter {
  /** The id of the request's sign-in; `null` for a signed-out client. */
  readonly sid: string | null;
  /** In seconds since the Unix epoch. */
  readonly now: number;
}

/** A feed that this application has issued. */
export interface VerifiedFeed {
  readonly channel: string;
  readonly position: Position;
  /** In seconds since the Unix epoch. */
  readonly expiresAt: number;
  /** Whether its lifetime is over, or it was issued to another sign-in. */
  readonly expired: boolean;
}

/**
 * Returns a signed feed.
 *
 * The sign-in is identified by 64 bits of its hash. That is enough: to use the feed of another sign-in, an attacker
 * would have to sign in 2^64 times.
 *
 * @param keys the keys of the purpose `feed`
 * @see docs/protocol.md 10.2
 */
export function signFeed({ channel, position, sid, expiresAt }: FeedPayload, keys: PurposeKeys): string {
  const tag = sid === null ? null : sessionTag(sid);
  const text = Buffer.from(formatFeedText({ expiresAt, tag, position, channel }));
  return Buffer.concat([text, truncatedMac(text, keys.sign)]).toString("base64url");
}

/**
 * Verifies a feed that was signed with one of `keys`. Returns `null` for any other string. A feed of this application
 * that is no longer valid is returned as `expired`, because its holder receives a gap instead of an error.
 *
 * @param feed base64url in its canonical form
 * @see docs/protocol.md 10.2
 */
export function verifyFeed(feed: string, { sid, now }: FeedPresenter, keys: PurposeKeys): VerifiedFeed | null {
  if (feed.length > MAX_FEED_CHARS) return null;
  const bytes = Buffer.from(feed, "base64url");
  if (bytes.length <= FEED_MAC_BYTES || bytes.toString("base64url") !== feed) return null;
  const text = bytes.subarray(0, -FEED_MAC_BYTES);
  const receivedMac = bytes.subarray(-FEED_MAC_BYTES);
  if (!keys.verify.some((key) => constantTimeEqual(truncatedMac(text, key), receivedMac))) return null;
  const parsed = parseFeedText(text.toString());
  if (!parsed) return null; // signed by another version of tsweb
  const { channel, position, expiresAt, tag } = parsed;
  return { channel, position, expiresAt, expired: now >= expiresAt || !isHolder(tag, sid) };
}

/** Returns whether a sign-in may use a token with a tag. Anybody may use one that was issued to a signed-out client. */
export function isHolder(tag: string | null, sid: string | null): boolean {
  if (tag === null) return true;
  return sid !== null && constantTimeEqual(Buffer.from(sessionTag(sid)), Buffer.from(String(tag)));
}

function truncatedMac(text: Uint8Array, key: PurposeKeys["sign"]): Buffer {
  return hmacSha256(key, text).subarray(0, FEED_MAC_BYTES);
}

/** The length of the tag of a channel, in bytes. */
const CHANNEL_TAG_BYTES = 8;

/**
 * Returns the tag of a channel: 11 characters of base64url, by which a page recognizes the channels that it listens to in what a
 * call has published. Nobody without the key can compute the tag of a name, or the name from a tag.
 *
 * A feed never has the same HMAC: its text starts with a version.
 *
 * @param keys the keys of the purpose `feed`. After a change of the secret, tags differ between processes: pages then do not wait.
 * @see docs/protocol.md 10.13
 */
export function channelTag(keys: PurposeKeys, channel: string): string {
  return hmacSha256(keys.sign, `tag\n${channel}`).subarray(0, CHANNEL_TAG_BYTES).toString("base64url");
}

/**
 * Returns the tags of the channels of a POST with their names, as JSON: a page finds in them what its calls have published. Empty
 * for a GET, and without feeds.
 *
 * @see docs/protocol.md 10.13
 */
export function feedTags(request: FeedChannels, context: RequestContext): string {
  if (!request.hasShortIds || request.readers.length === 0) return "";
  const keys = keysFor(context.config, "feed");
  return JSON.stringify(Object.fromEntries(request.readers.map(({ channel }) => [channelTag(keys, channel), channel])));
}

/** What {@link feedTags} uses of a request. */
interface FeedChannels {
  readonly readers: readonly { readonly channel: string }[];
  readonly hasShortIds: boolean;
}

/** Marks a feed in a cursor whose gap was reported: it receives nothing more. It is not a position of any bus. */
export const ENDED = "-";

/** Returns a cursor: the positions of all feeds, in the order of the request. @see docs/protocol.md 10.3 */
export function formatCursor(positions: readonly Position[]): string {
  return positions.join();
}

/** Returns the id of an event in a response to POST: the index of its feed, and its position. @see docs/protocol.md 10.5 */
export function shortId(index: number, position: Position): string {
  return `${index}=${position}`;
}

/**
 * Parses a cursor. A cursor with any error is unusable as a whole, because it is unknown which position belongs to
 * which feed.
 *
 * @param count the number of feeds in the request
 * @returns the positions, or `null` if the cursor is unusable
 */
export function parseCursor(text: string, count: number): readonly Position[] | null {
  const positions = text.split(",", count + 1);
  return positions.length === count && positions.every((position) => POSITION_PATTERN.test(position))
    ? positions
    : null;
}

/**
 * Returns the later one of two positions: that of a feed, and that of the cursor of its holder. Messages that were
 * published before the feed was issued are never delivered. A shorter position counts as earlier: at worst, messages are
 * delivered twice, and none is omitted.
 */
export function laterPosition(feedPosition: Position, cursorPosition: Position): Position {
  return isLater(cursorPosition, feedPosition) ? cursorPosition : feedPosition;
}
