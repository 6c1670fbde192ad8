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
    return body
      ? new Response(abortableBody(request, body, init?.signal ?? signal), { status, statusText, headers })
      : response;
  };
}

/**
 * Returns a body that ends when the signal aborts. It reads nothing ahead, so that a generator behind it runs at the
 * reader's pace.
 *
 * @param request the request, which follows `signal` only as long as it is in memory
 */
function abortableBody(
  request: Request,
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const listener = { request, handleEvent: () => {} }; // refers to the request, and so keeps it
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        listener.handleEvent = () => {
          controller.error(signal.reason);
          void reader.cancel(signal.reason);
        };
        signal.addEventListener("abort", listener);
      },
      async pull(controller) {
        const { done, value } = await reader.read();
        if (signal.aborted) return;
        if (!done) return controller.enqueue(value);
        signal.removeEventListener("abort", listener);
        controller.close();
      },
      cancel(reason) {
        signal.removeEventListener("abort", listener);
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
