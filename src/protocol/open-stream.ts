/**
 * The reading side of a streaming call. Used by the browser and the client.
 *
 * @see docs/protocol.md 6.5
 */
import { RPCError } from "../errors.ts";
import { readLines } from "./lines.ts";
import type { Arguments } from "./named-arguments.ts";
import { callError, errorFromJson, readResult } from "./result.ts";
import type { Stream } from "./stream.ts";
import type { StreamLine } from "./stream-line.ts";

/** Sends a call and resolves with its response. The signal aborts both. */
export type SendCall = (name: string, args: Arguments, signal: AbortSignal) => Promise<Response>;

/**
 * Returns the stream of a call. Nothing is sent before the first read, and the request is aborted however the loop is
 * left.
 *
 * @param abort aborts the request
 * @param beforeFailure called before a failed connection is reported. The error is thrown once it has resolved
 */
export function openStream(
  name: string,
  args: Arguments,
  send: SendCall,
  abort: AbortController = new AbortController(),
  beforeFailure?: () => Promise<unknown> | undefined,
): Stream<unknown> {
  let isRead = false;
  return {
    cancel: () => abort.abort(),
    async *[Symbol.asyncIterator](): AsyncGenerator<unknown, void> {
      if (isRead) throw new TypeError("A stream can be read once: call the function again.");
      isRead = true;
      let hasEnded: unknown = false;
      let response: Response | undefined;
      try {
        response = await send(name, args, abort.signal);
        // Not a stream: readResult throws its error. A result in its place is thrown as an unexpected value.
        if (!response.ok || !response.body) throw await readResult(name, response);
        for await (const lines of readLines(response.body)) {
          for (const line of lines) {
            const { chunk, done, error }: StreamLine = JSON.parse(line);
            if (abort.signal.aborted) return;
            hasEnded = done || error;
            if (error) throw errorFromJson(error);
            if (done) return;
            yield chunk;
          }
        }
        throw new Error("Cut off");
      } catch (error) {
        const isAnswer = error instanceof RPCError && response;
        if (!isAnswer) await beforeFailure?.();
        // After cancel() the loop ends without an error, even if the request failed.
        if (abort.signal.aborted) return;
        // Without a response, the call was not sent.
        throw isAnswer || !response ? error : callError(`${name}: the stream ended early`, error);
      } finally {
        // After its last line the request is not aborted, so that its connection is reused.
        if (!hasEnded) abort.abort();
      }
    },
  };
}
