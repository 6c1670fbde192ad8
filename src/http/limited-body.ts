import { bodyTooLargeError, hasDeclaredLength, MAX_BODY_BYTES } from "./request-body.ts";

/**
 * Gives a request whose body ends with an error once it is over the limit: for code that reads the
 * body itself.
 *
 * A body of declared length has been refused before, so only those of unknown length are counted.
 */
export function withLimitedBody(request: Request): Request {
  if (!request.body || hasDeclaredLength(request.headers)) return request;
  let size = 0;
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      size += chunk.byteLength;
      if (size > MAX_BODY_BYTES) controller.error(bodyTooLargeError());
      else controller.enqueue(chunk);
    },
  });
  const { url, method, headers, signal } = request;
  // Node wants to be told that the body is sent while the answer may be read; its types know it not.
  const init: RequestInit & { duplex: "half" } = {
    method,
    headers,
    signal,
    body: request.body.pipeThrough(counted),
    duplex: "half",
  };
  return new Request(url, init);
}
