import { keepInMemory, type LimitedRequest, type RequestContext } from "../http/index.ts";
import { uploadBody } from "./upload-body.ts";
import { uploadStoreOf } from "./upload-store.ts";

/**
 * Returns a request whose body has the limits of an upload, for a route with a `max_body` above the default. Its bytes
 * count as those of an upload until the response has ended: the route may store them, or keep them in memory.
 *
 * The body fails with the error that the client receives: 413 above `maxBytes`, 408 if it arrives too slowly, 503 if the
 * client or the process has too many uploads.
 *
 * @throws RequestError 503 by the declared length
 */
export function withUploadLimits(context: RequestContext, maxBytes: number): LimitedRequest {
  const { raw: request } = context;
  if (!request.body) return { request, isBodyChecked: () => true };
  const store = uploadStoreOf(context);
  store.checkRoom(context, Number(request.headers.get("content-length") ?? 0));
  context.isBodyInRoute = true;
  let bytes = 0;
  context.onBodyReleased(() => store.release(context, bytes));
  const chunks = uploadBody(context, maxBytes);
  let isComplete = false;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done) {
          isComplete = true;
          controller.close();
          return;
        }
        store.take(context, value.byteLength);
        bytes += value.byteLength;
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
  context.onBodyReleased(keepInMemory(limited));
  return { request: limited, isBodyChecked: () => isComplete };
}
