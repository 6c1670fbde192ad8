import type { RequestContext } from "./request-context.ts";

/**
 * How many chunks of the response are read in advance: the only chunk of a text and the end after it. The bytes of the
 * request are then released also if the host never reads such a response.
 */
const CHUNKS_IN_ADVANCE = 2;

/**
 * Returns the body of a route's response as a stream that keeps the bytes of the request body counted until it has
 * ended or failed, was cancelled, or the client has disconnected.
 *
 * @throws TypeError if the body was read already or is being read
 */
export function keepBodyUntilEnd(
  responseBody: ReadableStream<Uint8Array>,
  context: RequestContext,
): ReadableStream<Uint8Array> {
  const reader = responseBody.getReader();
  const releaseBody = context.keepBody();
  const { signal } = context.inbound; // not every host cancels the body when the client disconnects
  const release = () => {
    signal.removeEventListener("abort", release);
    releaseBody();
    context.hasEnded = true;
  };
  if (signal.aborted) release();
  else signal.addEventListener("abort", release);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(value);
        } catch (error) {
          release();
          throw error;
        }
        release();
        controller.close();
      },
      cancel(reason) {
        release();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: CHUNKS_IN_ADVANCE },
  );
}
