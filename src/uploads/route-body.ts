import { keepInMemory, type LimitedRequest, type RequestContext } from "../http/index.ts";
import { RouteBodyCounter } from "./route-body-counter.ts";
import { uploadBody } from "./upload-body.ts";
import { onWholeBodyRead } from "./whole-body.ts";

/**
 * Returns a request whose body has the limits of an upload, for a route with a `max_body` above the default. Its bytes
 * count as those of an upload until the response has ended. With `arrayBuffer()`, `json()` and the like, they also count
 * as bytes in memory. The rest of a body that was not read by then fails: nothing would release its bytes.
 *
 * The body fails with the error that the client receives: 413 above `maxBytes`, 408 if it arrives too slowly, 503 if the
 * client or the process has too many uploads, 429 if the client has too many bytes in memory.
 *
 * @throws RequestError 503 by the declared length
 * @see docs/protocol.md 2.7
 */
export function withUploadLimits(context: RequestContext, maxBytes: number): LimitedRequest {
  const { raw: request } = context;
  if (!request.body) return { request, isBodyChecked: () => true };
  const counter = new RouteBodyCounter(context, maxBytes);
  context.isBodyInRoute = true;
  const chunks = uploadBody(context, maxBytes);
  let isComplete = false;
  let isReleased = false;
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        context.onBodyReleased(() => {
          isReleased = true;
          counter.release();
          if (isComplete) return;
          controller.error(new Error("The response was sent before the request's body was read."));
          chunks.return(undefined).catch(() => undefined);
        });
      },
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (isReleased) return;
        if (done) {
          isComplete = true;
          controller.close();
          return;
        }
        counter.take(value.byteLength);
        controller.enqueue(value);
      },
      async cancel() {
        await chunks.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
  const { url, method, headers, signal } = request;
  // The Fetch standard requires `duplex` for a stream as a body. The type `RequestInit` does not have it.
  const init: RequestInit & { duplex: "half" } = { method, headers, signal, body, duplex: "half" };
  const limited = new Request(url, init);
  onWholeBodyRead(limited, () => {
    counter.isInMemory = true;
  });
  context.onBodyReleased(keepInMemory(limited));
  return { request: limited, isBodyChecked: () => isComplete };
}
