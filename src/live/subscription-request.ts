import { requireIdentityEncoding } from "../bodies/index.ts";
import { type RequestContext, RequestError } from "../http/index.ts";
import { keysFor, sessionId } from "../session/index.ts";
import { ENDED, laterPosition, parseCursor, type VerifiedFeed, verifyFeed } from "./feed.ts";
import { FeedReader, type Gap } from "./feed-reader.ts";

/** The maximum number of feeds of one request. */
export const MAX_FEEDS = 32;

/** The maximum length of the URL. Proxies refuse longer ones with statuses of their own. */
const MAX_URL_CHARS = 8 * 1024;

/** A request for an event stream or a poll. */
export interface SubscriptionRequest {
  /** A reader for each feed, in the order of the request. */
  readonly readers: readonly FeedReader[];
  /** The feeds that cannot be delivered completely. */
  readonly gaps: readonly Gap[];
}

/**
 * Reads and checks the feeds and the cursor of a request.
 *
 * An expired feed and an unusable cursor are not errors but gaps of the response, because browsers hide the status of
 * an event stream from scripts.
 *
 * @throws RequestError 405 for another method than GET, 414 for a URL that is too long, 400 for no feed, too many, or
 *   two of one channel, 403 for a feed that this application has not issued
 * @see docs/protocol.md 10.4
 */
export function readSubscriptionRequest(context: RequestContext): SubscriptionRequest {
  const { inbound, url } = context;
  if (inbound.method !== "GET") throw requestError(405, "This URL allows GET.", { allow: "GET" });
  requireIdentityEncoding(inbound);
  const { length } = url.href;
  if (length > MAX_URL_CHARS) {
    throw requestError(414, `The URL has ${length} characters; the maximum is ${MAX_URL_CHARS}. Send fewer feeds.`);
  }
  const feeds = url.searchParams.getAll("feed");
  if (feeds.length === 0) {
    throw requestError(400, "The request has no feed. Add ?feed=… with a feed that channel() has issued.");
  }
  if (feeds.length > MAX_FEEDS) {
    throw requestError(400, `The request has ${feeds.length} feeds; the maximum is ${MAX_FEEDS}.`);
  }
  const verified = verifyFeeds(feeds, context);
  checkDistinct(verified);
  return createReaders(verified, readCursor(context));
}

/** Each feed of a channel would be read for itself: a repeated one costs memory, and delivers each message twice. */
function checkDistinct(feeds: readonly VerifiedFeed[]): void {
  const indexes = new Map<string, number>();
  for (const [index, { channel }] of feeds.entries()) {
    const first = indexes.get(channel);
    if (first !== undefined) {
      const message = `The feeds ${first + 1} and ${index + 1} are of the same channel, ${channel}.`;
      throw requestError(400, `${message} Send one feed for each channel.`);
    }
    indexes.set(channel, index);
  }
}

/** `Last-Event-ID` takes precedence: a browser that reconnects repeats the URL, with the cursor of the first request. */
function readCursor({ inbound, url }: RequestContext): string {
  return inbound.header("last-event-id") || url.searchParams.get("after") || "";
}

function verifyFeeds(feeds: readonly string[], context: RequestContext): VerifiedFeed[] {
  const keys = keysFor(context.config, "feed");
  const presenter = { sid: sessionId(context), now: Date.now() / 1000 };
  return feeds.map((feed) => {
    const verified = verifyFeed(feed, presenter, keys);
    if (!verified) throw requestError(403, "A feed was not issued by this application. Load the page again.");
    return verified;
  });
}

function createReaders(feeds: readonly VerifiedFeed[], cursor: string): SubscriptionRequest {
  const clockOffsetMs = performance.now() - Date.now();
  const positions = cursor === "" ? feeds.map(({ position }) => position) : parseCursor(cursor, feeds.length);
  const gaps: Gap[] = [];
  const readers = feeds.map(({ channel, position, expiresAt, expired }, i) => {
    const cursorPosition = positions?.[i];
    if (cursorPosition === ENDED) return new FeedReader(channel, ENDED);
    const reader = new FeedReader(
      channel,
      laterPosition(position, cursorPosition ?? position),
      expiresAt * 1000 + clockOffsetMs,
    );
    // Before the cursor: `expired` takes precedence (docs/protocol.md 10.7).
    if (expired) gaps.push({ reader, reason: "expired" });
    else if (cursorPosition === undefined) gaps.push({ reader, reason: "reset" });
    return reader;
  });
  return { readers, gaps };
}

function requestError(status: number, message: string, headers: Readonly<Record<string, string>> = {}): RequestError {
  return new RequestError(status === 403 ? "forbidden" : "validation_error", message, { status, headers });
}
