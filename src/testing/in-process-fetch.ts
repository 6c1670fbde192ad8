import type { App } from "../app.ts";
import type { Fetch } from "../client/index.ts";
import { abortable } from "../protocol/index.ts";

/**
 * Returns a `fetch` that sends requests to an application in this process: through the whole pipeline, but not over the
 * network. A signal that aborts has the effect of a lost connection: the request's signal aborts, and the rest of the
 * response is cancelled.
 *
 * @param address the client's address, as its connection would have it
 */
export function inProcessFetch(app: Pick<App, "fetch">, address: string): Fetch {
  return async (url, init) => {
    const request = new Request(url, init);
    const { signal } = request;
    signal.throwIfAborted();
    const pending = app.fetch(request, { address });
    const response = await abortable(pending, signal).catch(async (error: unknown) => {
      // A response that arrives after the abort has no reader.
      void pending.then((lateResponse) => lateResponse.body?.cancel(error));
      throw error;
    });
    const { body, status, statusText, headers } = response;
    return body ? new Response(abortableBody(signal, body), { status, statusText, headers }) : response;
  };
}

/**
 * Returns a body that ends when the signal aborts. It reads nothing ahead, so that a generator behind it runs at the
 * reader's pace.
 */
function abortableBody(signal: AbortSignal, body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const end = () => {
          controller.error(signal.reason);
          void reader.cancel(signal.reason);
        };
        signal.addEventListener("abort", end, { once: true });
      },
      async pull(controller) {
        const { done, value } = await reader.read();
        if (signal.aborted) return;
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
