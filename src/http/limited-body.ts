import { bodyTooLargeError, MAX_BODY_BYTES } from "./request-body.ts";
import { hasDeclaredLength } from "./request-text.ts";

/**
 * Returns a request whose body fails once it exceeds {@link MAX_BODY_BYTES}, for routes that read the body themselves.
 *
 * A body with a declared length is returned unchanged: `checkDeclaredLength` has checked it, and the HTTP parser
 * enforces the length. Only bodies of unknown length are counted.
 *
 * @see docs/protocol.md 2.7
 */
export function withLimitedBody(request: Request): Request {
  if (!request.body || hasDeclaredLength(request.headers)) return request;
  let size = 0;
  const limiter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      size += chunk.byteLength;
      if (size > MAX_BODY_BYTES) controller.error(bodyTooLargeError());
      else controller.enqueue(chunk);
    },
  });
  const { url, method, headers, signal } = request;
  // The Fetch standard requires `duplex` for a stream as a body. The type `RequestInit` does not have it.
  const init: RequestInit & { duplex: "half" } = {
    method,
    headers,
    signal,
    body: request.body.pipeThrough(limiter),
    duplex: "half",
  };
  return new Request(url, init);
}
