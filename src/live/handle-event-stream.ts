import { type HandlerResponse, PushedBody, type RequestContext } from "../http/index.ts";
import { EVENT_STREAM_TYPE } from "../protocol/index.ts";
import { watchFinalSession } from "../session/index.ts";
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

/** The request of an event stream. */
export interface EventStreamContext {
  readonly context: RequestContext;
  /** Called once when the event stream has ended. */
  readonly release: () => void;
}

/**
 * Handles a request for an event stream with the messages of all its feeds. When its sign-in is revoked, it ends, and the
 * client learns from its next request which feeds have.
 *
 * @see docs/protocol.md 10.5
 */
export function handleEventStream(
  { readers, gaps }: SubscriptionRequest,
  hub: SubscriptionHub,
  { context, release }: EventStreamContext,
): HandlerResponse {
  let stream: EventStream | undefined;
  let isRevoked = false;
  const unwatch = watchFinalSession(context, () => {
    isRevoked = true;
    stream?.end();
  });
  const onClosed = () => {
    unwatch();
    release();
  };
  const body = new PushedBody((sink) => {
    stream = new EventStream(hub, sink, { readers, gaps, onClosed });
    if (isRevoked) stream.end();
    return stream;
  });
  return { status: 200, headers: HEADERS, body };
}
