import { type HandlerResponse, jsonResponse, type RequestContext, RequestError } from "../http/index.ts";
import { Poll } from "./poll.ts";
import type { SubscriptionHub } from "./subscription-hub.ts";
import type { SubscriptionRequest } from "./subscription-request.ts";

/** The maximum of the parameter `wait`, in seconds. */
const MAX_WAIT_SECONDS = 25;

/**
 * Handles a poll: returns the messages after the cursor, at once if there are any, and otherwise when there are or
 * after `wait` seconds.
 *
 * @throws RequestError 400 for an invalid `wait`, 503 while the bus is unreachable
 * @see docs/protocol.md 10.6
 */
export async function handlePoll(
  request: SubscriptionRequest,
  hub: SubscriptionHub,
  { url, inbound }: RequestContext,
): Promise<HandlerResponse> {
  const waitSeconds = parseWait(url.searchParams.get("wait") ?? "0");
  const poll = new Poll(hub, request);
  try {
    await poll.run({ untilMs: performance.now() + waitSeconds * 1000, signal: inbound.signal });
    return jsonResponse(200, poll.toJson());
  } catch (error) {
    hub.busFailed(error);
    throw new RequestError("internal", "Live updates are unavailable: the bus is unreachable. Retry later.", {
      status: 503,
      headers: { "retry-after": "2" },
    });
  } finally {
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
