import type { App } from "../app.ts";
import type { Fetch } from "../client/index.ts";
import { abortable } from "../protocol/index.ts";

/**
 * Gives a `fetch` that asks an application in this very process: the whole pipeline runs, and only
 * the network is left out. A signal that aborts does what a lost connection would: the
 * request's own signal aborts, and what is left of the answer is cancelled.
 *
 * @param address the client's, as its connection would have it
 */
export function inProcessFetch(app: Pick<App, "fetch">, address: string): Fetch {
  return async (url, init) => {
    const request = new Request(url, init);
    const { signal } = request;
    signal.throwIfAborted();
    const answering = app.fetch(request, { address });
    const response = await abortable(answering, signal).catch(async (error: unknown) => {
      // Nobody is there to read it, whenever it comes.
      void answering.then((late) => late.body?.cancel(error));
      throw error;
    });
    const { body, status, statusText, headers } = response;
    return body ? new Response(abortableBody(signal, body), { status, statusText, headers }) : response;
  };
}

/** Gives a body that a signal ends. It reads nothing ahead: a generator behind it is to run at its reader's pace. */
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
