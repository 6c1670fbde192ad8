import type { Position } from "../backends/index.ts";
import { ConfigError, rejectUnknownOptions } from "../config/index.ts";
import { RPCError } from "../errors.ts";
import {
  currentContext,
  isPrefetch,
  PUBLISHED,
  type RequestContext,
  refuseEffect,
  rejectInQuery,
  requireClientContext,
  UnavailableError,
} from "../http/index.ts";
import {
  type Feed,
  type FeedMessage,
  MAX_CHANNEL_NAME_BYTES,
  type MessageByName,
  type PublishArguments,
  START,
  toJson,
} from "../protocol/index.ts";
import { waitAtMost } from "../reconnect.ts";
import { hasSessionEnded, keysFor, sessionId } from "../session/index.ts";
import { type AppBus, requireReadOldest } from "./app-bus.ts";
import { APP_BUS, currentBus } from "./app-registry.ts";
import { channelTag, laterPosition, signFeed } from "./feed.ts";

/** How long `channel` waits for the bus, so that an unreachable bus does not delay pages for longer. */
const POSITION_TIMEOUT_MS = 2_000;

/** The lifetime of a feed, in seconds: 24 hours. @see docs/protocol.md 10.2 */
export const MAX_TTL_SECONDS = 24 * 60 * 60;

/** The options of {@link channel}. */
export interface ChannelOptions {
  /** How long the feed is valid, in whole seconds from 1 to 86,400, the default. */
  readonly ttl?: number;
  /**
   * `"start"`: the feed begins at the oldest message that is stored when the page first connects, in place of the current end
   * of the channel. Its holder receives messages from before it was issued.
   */
  readonly from?: "start";
}

const CHANNEL_OPTIONS: Readonly<Record<keyof ChannelOptions, true>> = { ttl: true, from: true };

/**
 * Resolves with a feed: a token that allows its holder to subscribe to the channel for 24 hours, from the current
 * position on. A feed that is issued to a signed-in user is valid for requests with the cookie of that sign-in only.
 *
 * Call it **before** you load what the page shows: a message that is published in between is then in the loaded data,
 * in the feed or in both. If `load` is passed, it is called after the feed was issued.
 *
 * The type of the messages is the one that `Channels` declares for the name. For an undeclared name, pass it as
 * `channel<Message>(name)`, or leave it to the view's `feed: Feed<Message>`, which accepts the result.
 *
 * @param name 1 to 128 bytes, no control characters. Any holder of the feed can subscribe: call `session.require()`
 *   before, if access is restricted.
 * @param load loads the data that the page shows. The result is then `[feed, data]`.
 * @param options `ttl`: how long the feed is valid, in seconds. Permissions are checked when the feed is issued, so a
 *   shorter time ends the delivery to a user who has lost them earlier. `from: "start"`: the feed begins at the oldest
 *   stored message, so that its holder also receives messages from before.
 * @throws TypeError for an invalid name, an unknown option, or a `ttl` that is not a number
 * @throws RangeError for a `ttl` that is not a whole number from 1 to 86,400
 * @throws Error outside a request
 * @throws RPCError `unauthenticated` if the session of the request has been revoked or has expired since it began: the feed of
 *   a signed-out client would have no owner
 * @throws RPCError when the bus does not respond within 2 seconds: a page then responds with 503 and `Retry-After`, anything
 *   else with 503
 * @see docs/protocol.md 10.2
 * @example const [feed, messages] = await channel("room:1", () => db.messages("room:1"));
 */
export function channel<T = MessageByName, Name extends string = string>(
  name: Name,
  options?: ChannelOptions,
): Promise<Feed<FeedMessage<T, Name>>>;
/** Resolves with a feed and the result of `load`, which is called after the feed was issued. */
export function channel<T = MessageByName, R = unknown, Name extends string = string>(
  name: Name,
  load: () => R | Promise<R>,
  options?: ChannelOptions,
): Promise<[feed: Feed<FeedMessage<T, Name>>, loaded: R]>;
export async function channel(
  name: string,
  load?: (() => unknown) | ChannelOptions,
  options?: ChannelOptions,
): Promise<Feed | [Feed, unknown]> {
  const context = requireClientContext("channel()");
  checkChannelName(name, "channel");
  const { ttl, isFromStart } = readOptions(typeof load === "function" ? options : load);
  const position = isFromStart ? startPosition() : await currentPosition(name);
  const payload = { channel: name, position, sid: ownerOf(context), expiresAt: Math.floor(Date.now() / 1000) + ttl };
  const feed = signFeed(payload, keysFor(context.config, "feed")) as Feed; // the brand exists in the type only
  return typeof load === "function" ? [feed, await load()] : feed;
}

/** Returns the sign-in to which a feed is issued; `null` for a signed-out client, whose feed any client may use. */
function ownerOf(context: RequestContext): string | null {
  if (hasSessionEnded(context)) throw new RPCError("unauthenticated", "You were signed out. Please sign in again.");
  return sessionId(context);
}

function readOptions(options: unknown = {}): { readonly ttl: number; readonly isFromStart: boolean } {
  rejectUnknownOptions(options, CHANNEL_OPTIONS, "channel()");
  const { ttl = MAX_TTL_SECONDS, from }: { readonly ttl?: unknown; readonly from?: unknown } = options;
  checkFrom(from, "channel");
  return { ttl: checkTtl(ttl), isFromStart: from === "start" };
}

/**
 * Checks the option `from` of a function.
 *
 * @throws TypeError for anything but "start" and undefined
 */
export function checkFrom(from: unknown, caller: string): void {
  if (from === undefined || from === "start") return;
  const received = typeof from === "string" ? JSON.stringify(from.slice(0, 40)) : `of type ${typeof from}`;
  throw new TypeError(`${caller}: the option from is ${received}. Pass "start", or leave it out to begin now.`);
}

function checkTtl(ttl: unknown): number {
  if (typeof ttl !== "number") {
    throw new TypeError(`channel: the option ttl is of type ${typeof ttl}. Pass a number of seconds: { ttl: 3600 }.`);
  }
  if (Number.isInteger(ttl) && ttl >= 1 && ttl <= MAX_TTL_SECONDS) return ttl;
  throw new RangeError(
    `channel: the option ttl is ${ttl}. Pass whole seconds from 1 to ${MAX_TTL_SECONDS} (24 hours).`,
  );
}

/** Returns the position of a feed from the start, for which the bus need not be reachable. */
function startPosition(): Position {
  requireReadOldest(currentBus("channel").open());
  return START;
}

/** @throws UnavailableError if the bus does not respond */
async function currentPosition(name: string): Promise<Position> {
  const bus = currentBus("channel").openReader();
  try {
    const positions = await waitAtMost(bus.position([name]), POSITION_TIMEOUT_MS, null);
    if (positions === null) {
      const seconds = POSITION_TIMEOUT_MS / 1000;
      throw new Error(`The bus did not return the position of ${name} within ${seconds} s.`);
    }
    const [position] = positions;
    if (position === undefined) throw new Error(`The bus returned no position of ${name}.`);
    return position;
  } catch (error) {
    if (error instanceof ConfigError) throw error; // it has to be corrected, and is logged as a failure
    throw new UnavailableError(`No feed can be issued: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The maximum size of a message, in bytes of JSON. */
export const MAX_MESSAGE_BYTES = 64 * 1024;

/**
 * Publishes a message to every page that has subscribed to a channel. Resolves when the bus has stored the message. Each
 * page with a feed of the channel then receives it once and in order, or is notified of a gap.
 *
 * The order of calls for one channel is kept, also if they are not awaited. Without data, the message is `null`: the channel
 * has changed.
 *
 * Works anywhere on the server. Inside a request, the message goes to the application that handles the request;
 * outside, to the only application of the process. With several, call `app.publish`.
 *
 * @param name 1 to 128 bytes, no control characters
 * @param data anything that a server function may return, at most 64 KiB of JSON; of the type that `Channels` declares for
 *   the name. It may be left out for an undeclared channel, and for one that declares `undefined`, `void` or `null`.
 * @throws TypeError for an invalid name
 * @throws SerializeError for data that cannot be serialised as JSON
 * @throws RangeError for a message that is too large
 * @throws Error if the bus does not confirm the message within 10 seconds: it may or may not be delivered, at most once
 * @throws Error outside a request, if the process has several applications
 * @see docs/protocol.md 10.1
 */
export function publish<Name extends string>(name: Name, ...[data]: PublishArguments<Name>): Promise<void> {
  return publishTo(() => currentBus("publish"), name, data);
}

/** Publishes to a bus of the caller's choice. The bus is opened only for a valid message. */
export function publishTo(findBus: () => AppBus, name: string, data: unknown): Promise<void> {
  const published = send(findBus, name, data);
  // Refused, whether it is awaited or not: any client could cause an unhandled rejection, which ends the process of some hosts.
  const context = currentContext();
  if (context && (context.shared || isPrefetch(context))) published.catch(() => undefined);
  return published;
}

async function send(findBus: () => AppBus, name: string, data: unknown): Promise<void> {
  rejectInQuery("publish()");
  checkChannelName(name, "publish");
  const json = toJson(data, { subject: `publish to ${name}` });
  const bytes = Buffer.byteLength(json);
  if (bytes > MAX_MESSAGE_BYTES) {
    throw new RangeError(
      `publish: the message to ${name} has ${bytes} bytes of JSON; the maximum is ${MAX_MESSAGE_BYTES}. ` +
        "Store the data, for example in your database, and publish its id: pages then load it with a server function.",
    );
  }
  refuseEffect("publish()");
  const bus = findBus();
  recordPublished(bus, name, await bus.publish(name, json));
}

/**
 * Records for the response of the current request where the messages of a channel end now: the page that has made the call waits
 * until it has received them.
 *
 * @see docs/protocol.md 3.10
 */
function recordPublished(bus: AppBus, channel: string, position: Position): void {
  const context = currentContext();
  // The page listens to the bus of its own application. A bus of the application may return no position.
  if (context?.get(APP_BUS) !== bus || !position) return;
  const published = context.get(PUBLISHED) ?? new Map<string, Position>();
  const tag = channelTag(keysFor(context.config, "feed"), channel);
  const known = published.get(tag) ?? position;
  published.delete(tag); // the last one is at the end
  context.set(PUBLISHED, published.set(tag, laterPosition(known, position)));
}

/** Control characters, which would end a line of the event stream, and unpaired surrogates, which UTF-8 cannot encode. */
const INVALID_CHARACTER = /[\p{Cc}\p{Cs}]/u;

/**
 * Checks the name of a channel: 1 to 128 bytes of UTF-8, no control characters.
 *
 * @param caller the public function, for the message: `channel`
 * @throws TypeError that names the problem
 * @see docs/protocol.md 10.1
 */
export function checkChannelName(name: unknown, caller: string): asserts name is string {
  const problem = describeProblem(name);
  if (problem) throw new TypeError(`${caller}: the name of a channel ${problem}.`);
}

function describeProblem(name: unknown): string | null {
  if (typeof name !== "string") {
    return `must be a string; received ${name === null ? "null" : `a value of type ${typeof name}`}`;
  }
  if (name === "") return "must not be empty";
  if (INVALID_CHARACTER.test(name)) {
    return `must not contain control characters or unpaired surrogates; received ${excerpt(name)}`;
  }
  const bytes = Buffer.byteLength(name);
  if (bytes <= MAX_CHANNEL_NAME_BYTES) return null;
  return `must have at most ${MAX_CHANNEL_NAME_BYTES} bytes of UTF-8; received ${bytes} bytes, ${excerpt(name)}`;
}

function excerpt(name: string): string {
  return JSON.stringify(name.length > 40 ? `${name.slice(0, 40)}…` : name);
}
