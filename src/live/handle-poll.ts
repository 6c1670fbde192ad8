import { type HandlerResponse, jsonResponse, type RequestContext, RequestError } from "../http/index.ts";
import { watchFinalSession } from "../session/index.ts";
import { Poll } from "./poll.ts";
import type { SubscriptionHub } from "./subscription-hub.ts";
import type { SubscriptionRequest } from "./subscription-request.ts";

/** The maximum of the parameter `wait`, in seconds. */
const MAX_WAIT_SECONDS = 25;

/**
 * The longest wait of a poll whose client has too many connections open, in seconds. If it were 0, the further pages of
 * an office with one address would use up its live requests. The limit of these bounds how many such polls wait.
 */
const MAX_WAIT_ABOVE_LIMIT_SECONDS = 10;

/** A poll that passed the checks of `LiveUpdates`. */
export interface PollContext {
  readonly context: RequestContext;
  /** Whether its client has too many connections open. It then waits for at most 10 seconds. */
  readonly isAboveLimit: boolean;
}

/**
 * Handles a poll: returns the messages after the cursor, at once if there are any, and otherwise when there are or
 * after `wait` seconds, or 10 if these are fewer and the client has too many connections open.
 *
 * @throws RequestError 400 for an invalid `wait`, 503 while the bus cannot be read
 * @see docs/protocol.md 10.6
 */
export async function handlePoll(
  request: SubscriptionRequest,
  hub: SubscriptionHub,
  { context, isAboveLimit }: PollContext,
): Promise<HandlerResponse> {
  const { url, inbound } = context;
  const wait = parseWait(url.searchParams.get("wait") ?? "0");
  const waitSeconds = isAboveLimit ? Math.min(wait, MAX_WAIT_ABOVE_LIMIT_SECONDS) : wait;
  const poll = new Poll(hub, request);
  const unwatch = watchFinalSession(context, () => poll.signOut());
  try {
    await poll.run({ untilMs: performance.now() + waitSeconds * 1000, signal: inbound.signal });
    return jsonResponse(200, poll.toJson());
  } catch (error) {
    hub.busFailed(error);
    throw new RequestError("internal", "Live updates are unavailable at the moment. Retry later.", {
      status: 503,
      headers: { "retry-after": "2" },
    });
  } finally {
    unwatch();
    poll.end();
  }
}

function parseWait(text: string): number {
  const seconds = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  if (seconds <= MAX_WAIT_SECONDS) return seconds;
  throw new RequestError("validation_error", `wait must be a whole number from 0 to ${MAX_WAIT_SECONDS}, in seconds.`, {
    status: 400,
  });
}
