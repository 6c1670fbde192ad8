import { isJsonType, readBody, requireIdentityEncoding } from "../bodies/index.ts";
import { CONNECTION_CLOSE, isPromise, parseJson, type RequestContext, RequestError } from "../http/index.ts";
import { MAX_FEEDS, MAX_QUERIES, MAX_QUERY_FEEDS } from "../protocol/index.ts";
import { keysFor, sessionId } from "../session/index.ts";
import { ENDED, laterPosition, parseCursor, type VerifiedFeed, verifyFeed } from "./feed.ts";
import { FeedReader, type Gap } from "./feed-reader.ts";

/** The maximum length of the URL. Proxies refuse longer ones with statuses of their own. */
const MAX_URL_CHARS = 8 * 1024;

/**
 * The maximum size of the body of a POST. 256 feeds of the maximum length and their cursor have 82 KiB. The rest is for the tokens
 * of presence and of queries.
 */
export const MAX_SUBSCRIPTION_BYTES = 512 * 1024;

/** The maximum number of tokens of a POST. */
const MAX_TOKENS = 256;

/** The maximum of `wait`, in seconds. */
const MAX_WAIT_SECONDS = 25;

/** How much of a name from a client a message repeats, in characters. */
const MAX_NAME_CHARS = 40;

/** A request for an event stream or a poll. */
export interface SubscriptionRequest {
  /** A reader for each feed, in the order of the request. */
  readonly readers: readonly FeedReader[];
  /** The feeds that cannot be delivered completely. */
  readonly gaps: readonly Gap[];
  /**
   * Whether the id of an event has the position of its own feed only, as in responses to POST. In those to GET it is the cursor
   * of all feeds, from which an `EventSource` resumes.
   */
  readonly hasShortIds: boolean;
  /** The tokens of presence, as the client has sent them: any strings. GET has none. */
  readonly tokens: readonly string[];
  /** The tokens of queries, as the client has sent them: any strings. GET has none. */
  readonly queries: readonly string[];
  /** How long a poll waits for messages, in seconds; 0 for an event stream. */
  readonly waitSeconds: number;
}

/** What a request contains, before its feeds are verified. */
interface SubscriptionInput {
  readonly feeds: readonly string[];
  readonly tokens: readonly string[];
  readonly queries: readonly string[];
  /** Empty if there is none. */
  readonly cursor: string;
  readonly wait: number;
}

/** Which response is requested. */
export type SubscriptionKind = "live" | "poll";

/**
 * Reads and checks the feeds, the tokens and the cursor of a request: synchronously for GET, and for POST if its body has
 * arrived.
 *
 * An expired feed and an unusable cursor are not errors but gaps of the response, because browsers hide the status of
 * an event stream from scripts.
 *
 * @throws RequestError 405 for another method than GET and POST, 414 for a URL that is too long, 415 and 413 for a body that is
 *   no JSON or too large, 400 for an invalid one, for no feed, too many, or two of one channel, 403 for a feed that this
 *   application has not issued
 * @see docs/protocol.md 10.4
 */
export function readSubscriptionRequest(
  context: RequestContext,
  kind: SubscriptionKind,
): SubscriptionRequest | Promise<SubscriptionRequest> {
  const { inbound, url } = context;
  const isPost = inbound.method === "POST";
  if (!isPost && inbound.method !== "GET") {
    throw requestError(405, "This URL allows GET and POST.", { allow: "GET, POST" });
  }
  requireIdentityEncoding(inbound);
  const { length } = url.href;
  if (length > MAX_URL_CHARS) {
    const fix = isPost ? "Send the feeds in the body." : "Send fewer feeds, or send them in the body of a POST.";
    const message = `The URL has ${length} characters; the maximum is ${MAX_URL_CHARS}. ${fix}`;
    throw requestError(414, message, isPost ? CONNECTION_CLOSE : {});
  }
  if (!isPost) return createRequest(readQuery(context, kind), context);
  if (!isJsonType(inbound)) {
    throw requestError(415, "The content type of a POST must be application/json.", CONNECTION_CLOSE);
  }
  const text = readBody(context, MAX_SUBSCRIPTION_BYTES);
  const createFrom = (body: string) => {
    const input = parseBody(body, kind);
    context.releaseParsedBody();
    return createRequest(input, context);
  };
  return isPromise(text) ? text.then(createFrom) : createFrom(text);
}

function readQuery({ inbound, url }: RequestContext, kind: SubscriptionKind): SubscriptionInput {
  const feeds = url.searchParams.getAll("feed");
  if (feeds.length === 0) {
    throw requestError(400, "The request has no feed. Add ?feed=… with a feed that channel() has issued.");
  }
  if (feeds.length > MAX_QUERY_FEEDS) {
    throw requestError(400, `The request has ${feeds.length} feeds; the maximum of GET is ${MAX_QUERY_FEEDS}.`);
  }
  // Precedence: a browser that reconnects repeats the URL, with the cursor of the first request.
  const cursor = inbound.header("last-event-id") || url.searchParams.get("after") || "";
  const wait = kind === "poll" ? (url.searchParams.get("wait") ?? "0") : "0";
  return { feeds, tokens: [], queries: [], cursor, wait: /^\d{1,2}$/.test(wait) ? Number(wait) : Number.NaN };
}

function parseBody(text: string, kind: SubscriptionKind): SubscriptionInput {
  const body = parseObject(text);
  const names = ["feeds", "tokens", "queries", "cursor", ...(kind === "poll" ? ["wait"] : [])];
  for (const name of Object.keys(body)) {
    if (names.includes(name)) continue;
    const received = JSON.stringify(name.slice(0, MAX_NAME_CHARS));
    throw requestError(400, `The body has the unknown member ${received}. Its members are ${names.join(", ")}.`);
  }
  const feeds = readStrings(body, "feeds", MAX_FEEDS);
  const tokens = readStrings(body, "tokens", MAX_TOKENS);
  const queries = readStrings(body, "queries", MAX_QUERIES);
  if (feeds.length + tokens.length + queries.length === 0) {
    throw requestError(
      400,
      'The request has no feed, no token and no query. Send {"feeds": ["…"]} with a feed that channel() has issued.',
    );
  }
  const { cursor = "", wait = 0 } = body;
  if (typeof cursor !== "string") throw requestError(400, `cursor must be a string; it is ${kindOf(cursor)}.`);
  if (typeof wait !== "number") throw requestError(400, `wait must be a number; it is ${kindOf(wait)}.`);
  return { feeds, tokens, queries, cursor, wait };
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    // The reason would repeat a part of the body, which may be of a feed.
    throw requestError(400, 'The body is not JSON. Send {"feeds": ["…"]}.');
  }
  if (kindOf(value) === "an object") return Object.fromEntries(Object.entries(value as object));
  throw requestError(400, `The body must be an object, {"feeds": ["…"]}; it is ${kindOf(value)}.`);
}

function readStrings(
  body: Readonly<Record<string, unknown>>,
  name: "feeds" | "tokens" | "queries",
  max: number,
): readonly string[] {
  const list = body[name] ?? [];
  if (body[name] === null || !Array.isArray(list)) {
    throw requestError(400, `${name} must be a list of strings; it is ${kindOf(body[name])}.`);
  }
  if (list.length > max) {
    throw requestError(400, `The request has ${list.length} ${name}; the maximum of POST is ${max}.`);
  }
  const other = list.findIndex((item) => typeof item !== "string");
  if (other === -1) return list;
  throw requestError(400, `${name} must be a list of strings; ${name}[${other}] is ${kindOf(list[other])}.`);
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

function createRequest(
  { feeds, tokens, queries, cursor, wait }: SubscriptionInput,
  context: RequestContext,
): SubscriptionRequest {
  const verified = verifyFeeds(feeds, context);
  checkDistinct(verified);
  if (!(Number.isInteger(wait) && wait >= 0 && wait <= MAX_WAIT_SECONDS)) {
    throw requestError(400, `wait must be a whole number from 0 to ${MAX_WAIT_SECONDS}, in seconds.`);
  }
  const hasShortIds = context.inbound.method === "POST";
  const { readers, gaps } = createReaders(verified, cursor);
  return { readers, gaps, hasShortIds, tokens, queries, waitSeconds: wait };
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

function verifyFeeds(feeds: readonly string[], context: RequestContext): VerifiedFeed[] {
  const keys = keysFor(context.config, "feed");
  const presenter = { sid: sessionId(context), now: Date.now() / 1000 };
  return feeds.map((feed) => {
    const verified = verifyFeed(feed, presenter, keys);
    if (!verified) throw requestError(403, "A feed was not issued by this application. Load the page again.");
    return verified;
  });
}

function createReaders(feeds: readonly VerifiedFeed[], cursor: string): Pick<SubscriptionRequest, "readers" | "gaps"> {
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

/** Returns the error for a request of a page that cannot be handled, with the code of its status. */
export function requestError(
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): RequestError {
  const code = status === 403 ? "forbidden" : status === 503 ? "internal" : "validation_error";
  return new RequestError(code, message, { status, headers });
}
