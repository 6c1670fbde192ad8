import { isJsonType, readBody, requireIdentityEncoding } from "../bodies/index.ts";
import {
  CONNECTION_CLOSE,
  type HandlerResponse,
  PRIVATE_NO_CACHE,
  parseJson,
  type RequestContext,
  RequestError,
} from "../http/index.ts";
import { MAX_PRESENCE_BYTES } from "../protocol/index.ts";
import { CountLimit, clientKey, type MemoryRateStore, retryAdvice } from "../rate-limit/index.ts";
import { keysFor, sessionId } from "../session/index.ts";
import type { PresenceRooms } from "./presence-rooms.ts";
import { splitPresenceToken, type VerifiedPresence, verifyPresence } from "./presence-token.ts";
import { requestError } from "./subscription-request.ts";

/** The maximum size of the body: the longest token, the largest state, and room for JSON escapes. */
const MAX_BODY_BYTES = 16 * 1024;

/**
 * The maximum depth of a state, in levels. Pages that are loaded have the states of others among their props, whose depth is
 * limited: a deep one would make them fail.
 */
const MAX_STATE_LEVELS = 64;

/** How often one page may set its state. A page sends the last one of each tenth of a second. */
const PAGE_LIMIT = new CountLimit("presence page", { calls: 10, seconds: 1 }, "one page");

/** How often the pages of one user may, and the signed-out clients of one address. */
const CLIENT_LIMIT = new CountLimit("presence", { calls: 1_000, seconds: 10 }, "one client");

/** How many requests of one address are read. Many people may share it. */
const ADDRESS_LIMIT = new CountLimit("presence address", { calls: 5_000, seconds: 10 }, "one address");

/** What the handler uses of the application. */
export interface PresenceHandlerOptions {
  readonly rooms: () => PresenceRooms;
  readonly rate: MemoryRateStore;
  /** Called with an error of the bus, which is then unreachable. */
  readonly onBusFailure: (error: unknown) => void;
}

/**
 * Handles what a page sends of itself: its state, or that it is left. The caller has checked the origin.
 *
 * @returns 204 if the state is set, 202 if the page is not present, so that it sends the state again: an error status would be shown
 *   in the console of the browser, for a page that has just been opened
 * @throws RequestError 405, 415, 413 and 400 for an invalid request, 403 for a token that is not valid for it, 429 for too many
 *   requests, 503 while the bus is unreachable
 * @see docs/protocol.md 10.12
 */
export async function handlePresence(
  context: RequestContext,
  { rooms, rate, onBusFailure }: PresenceHandlerOptions,
): Promise<HandlerResponse> {
  if (context.inbound.method !== "POST") throw requestError(405, "This URL allows POST.", { allow: "POST" });
  requireIdentityEncoding(context.inbound);
  const address = clientKey(context.address);
  take(rate, ADDRESS_LIMIT, address);
  if (!isJsonType(context.inbound)) {
    throw requestError(415, "The content type must be application/json.", CONNECTION_CLOSE);
  }
  const { token, state, left } = readInput(await readBody(context, MAX_BODY_BYTES));
  const page = verify(token, context);
  take(rate, CLIENT_LIMIT, page.user === null ? `a:${address}` : `u:${page.user}`);
  take(rate, PAGE_LIMIT, page.id);
  try {
    const isDone = left
      ? await rooms().leave(page.channel, page.id)
      : await rooms().store.setState(page.channel, page.id, state);
    return { status: isDone ? 204 : 202, headers: PRIVATE_NO_CACHE, body: null };
  } catch (error) {
    onBusFailure(error);
    throw requestError(503, "Presence is unavailable at the moment. Retry later.", { "retry-after": "2" });
  }
}

/** What a page sends. */
interface PresenceInput {
  readonly token: string;
  /** JSON */
  readonly state: string;
  /** Whether the page is left. */
  readonly left: boolean;
}

function readInput(text: string): PresenceInput {
  let body: unknown;
  try {
    body = parseJson(text);
  } catch {
    // The reason would repeat a part of the body, which may be of the token.
    throw requestError(400, 'The body is not JSON. Send {"token": "…", "state": …}.');
  }
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw requestError(400, 'The body must be an object: {"token": "…", "state": …}.');
  }
  const { token, state, left, ...others } = body as Record<string, unknown>; // an object of JSON
  const [other] = Object.keys(others);
  if (other !== undefined) {
    const name = JSON.stringify(other.slice(0, 40));
    throw requestError(400, `The body has the unknown member ${name}. Its members are token, state and left.`);
  }
  if (typeof token !== "string") throw requestError(400, "token must be a string.");
  if (left === true) return { token, state: "null", left };
  if (left !== undefined) throw requestError(400, "left must be true, or absent.");
  if (state === undefined) throw requestError(400, "The body has no state. Send null to remove it.");
  const json = JSON.stringify(state);
  if (isDeeperThan(MAX_STATE_LEVELS, state)) {
    throw requestError(400, `The state nests deeper than ${MAX_STATE_LEVELS} levels. Send a flatter one.`);
  }
  const bytes = Buffer.byteLength(json);
  if (bytes <= MAX_PRESENCE_BYTES) return { token, state: json, left: false };
  throw requestError(
    413,
    `set() of present(): the state has ${bytes} bytes of JSON; the maximum is ${MAX_PRESENCE_BYTES}. ` +
      "Set only what the others show of this user, and publish larger data.",
  );
}

function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => isDeeperThan(levels - 1, item));
}

function verify(text: string, context: RequestContext): VerifiedPresence {
  const presenter = { sid: sessionId(context), now: Date.now() / 1000 };
  const page = verifyPresence(splitPresenceToken(text).token, presenter, keysFor(context.config, "presence"));
  if (!page) throw requestError(403, "The token was not issued by this application. Load the page again.");
  if (page.expired) throw requestError(403, "The token has expired, or is of another sign-in. Load the page again.");
  return page;
}

function take(rate: MemoryRateStore, limit: CountLimit, key: string): void {
  const refusal = rate.take([limit], [key]);
  if (refusal === null) return;
  const { details, sentence } = retryAdvice(refusal.waitSeconds);
  const message = `Too many states: at most ${limit.calls} in ${limit.seconds} s. ${sentence}`;
  throw new RequestError("rate_limited", message, { details });
}
