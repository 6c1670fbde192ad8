import { hasDeclaredLength } from "./inbound-request.ts";
import { keepInMemory } from "./keep-in-memory.ts";
import { bodyCounter } from "./request-body.ts";
import type { RequestContext } from "./request-context.ts";

/** The request that a route receives. */
export interface LimitedRequest {
  readonly request: Request;
  /** Returns whether the whole body was read, or its size was checked before. */
  isBodyChecked(): boolean;
}

/**
 * Returns a request whose body fails once it exceeds the limits of docs/protocol.md 2.7, for routes that read the body
 * themselves.
 *
 * A request with a declared length is returned unchanged if its host enforces it: `checkDeclaredLength` has checked it. Any other
 * body is counted as the route reads it.
 *
 * @throws RequestError 429 if the client has too many bytes in flight
 */
export function withLimitedBody(context: RequestContext, maxBytes?: number): LimitedRequest {
  const { raw: request } = context;
  if (!request.body) return { request, isBodyChecked: () => true };
  context.isBodyInRoute = true;
  const isDeclared = hasDeclaredLength(request.headers);
  const declared = isDeclared ? Number(request.headers.get("content-length")) : 0;
  context.takeBodyBytes(declared);
  if (isDeclared && context.inbound.enforcesLength) return { request, isBodyChecked: () => true };
  const count = bodyCounter(context, { maxBytes, counted: declared });
  let isComplete = false;
  const limiter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      count(chunk.byteLength); // if it throws, the stream fails with that error
      controller.enqueue(chunk);
    },
    flush() {
      isComplete = true;
    },
  });
  const { url, method, headers, signal } = request;
  // The Fetch standard requires `duplex` for a stream as a body. The type `RequestInit` does not have it.
  const init: RequestInit & { duplex: "half" } = {
    method,
    headers,
    signal,
    // The source is not cancelled: the host would discard the rest without a limit.
    body: request.body.pipeThrough(limiter, { preventCancel: true }),
    duplex: "half",
  };
  const limited = new Request(url, init);
  context.onBodyReleased(keepInMemory(limited));
  return { request: limited, isBodyChecked: () => isDeclared || isComplete };
}
