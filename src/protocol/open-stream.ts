import { RPCError } from "../errors.ts";
import { readLines } from "./lines.ts";
import type { Arguments } from "./named-arguments.ts";
import { failure, received, resultOf } from "./result.ts";
import type { Stream } from "./stream.ts";

/** Sends a call and gives its response; the signal ends both. */
export type Post = (name: string, args: Arguments, signal: AbortSignal) => Promise<Response>;

/**
 * Gives the values of a streaming call. Nothing is sent before the first read, and the request ends
 * whichever way the stream is left.
 *
 * @param abort ends the request
 */
export function openStream(
  name: string,
  args: Arguments,
  post: Post,
  abort: AbortController = new AbortController(),
): Stream<unknown> {
  let isRead = false;
  return {
    cancel: () => abort.abort(),
    async *[Symbol.asyncIterator](): AsyncGenerator<unknown, void> {
      if (isRead) throw new TypeError("A stream can be read once: call the function again for another.");
      isRead = true;
      let isOver = false;
      try {
        const response = await post(name, args, abort.signal);
        // Not a stream: what it carries is an error, and if it is not, that is one.
        if (!response.ok || !response.body) throw await resultOf(name, response);
        for await (const lines of readLines(response.body)) {
          for (const line of lines) {
            const { chunk, done, error } = JSON.parse(line);
            if (abort.signal.aborted) return;
            isOver = done || error;
            if (error) throw received(error);
            if (done) return;
            yield chunk;
          }
        }
        throw new Error("It ended without a last line");
      } catch (error) {
        // Cancelled: the loop ends without an error, whatever the request ended with.
        if (abort.signal.aborted) return;
        throw error instanceof RPCError ? error : failure(`${name}: the stream ended early`, error);
      } finally {
        // After the last line the connection may serve other calls.
        if (!isOver) abort.abort();
      }
    },
  };
}
