import { type HandlerResponse, PushedBody } from "../http/index.ts";
import { EVENT_STREAM_TYPE } from "../protocol/index.ts";
import { EventStream } from "./event-stream.ts";
import type { SubscriptionHub } from "./subscription-hub.ts";
import type { SubscriptionRequest } from "./subscription-request.ts";

const HEADERS = {
  "content-type": EVENT_STREAM_TYPE,
  // no-transform: a proxy that compresses would delay messages until its block is full.
  "cache-control": "private, no-store, no-transform",
  // nginx would buffer the response.
  "x-accel-buffering": "no",
} as const;

/**
 * Handles a request for an event stream with the messages of all its feeds.
 *
 * @param release called once when the event stream has ended
 * @see docs/protocol.md 10.5
 */
export function handleEventStream(
  { readers, gaps }: SubscriptionRequest,
  hub: SubscriptionHub,
  release: () => void,
): HandlerResponse {
  const body = new PushedBody((sink) => new EventStream(hub, sink, { readers, gaps, onClosed: release }));
  return { status: 200, headers: HEADERS, body };
}
