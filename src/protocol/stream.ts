/**
 * Streams: their type, the lines of their bodies, which the server writes, and the reading of them in the browser and the client.
 *
 * @see docs/protocol.md 6.2 and 6.5
 */
import { RPCError } from "../errors.ts";
import { type Arguments, callError, type ErrorBody, errorFromJson, readResult } from "./call.ts";

/** Sends a call and resolves with its response. The signal aborts both. */
export type SendCall = (name: string, args: Arguments, signal: AbortSignal) => Promise<Response>;

/**
 * Returns the stream of a call. Nothing is sent before the first read, and the request is aborted however the loop is
 * left.
 *
 * @param beforeFailure called before a failed connection is reported. The error is thrown once it has resolved
 * @param abort aborts the request
 */
export function openStream(
  name: string,
  args: Arguments,
  send: SendCall,
  beforeFailure?: () => Promise<unknown> | undefined,
  abort: AbortController = new AbortController(),
): Stream<unknown> {
  let isRead: boolean | undefined;
  return {
    cancel: () => abort.abort(),
    async *[Symbol.asyncIterator](): AsyncGenerator<unknown, void> {
      if (isRead) throw new TypeError("A stream can be read once: call again.");
      isRead = true;
      let hasEnded: unknown;
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

/**
 * The return type of a streaming function: values one by one, read with `for await`. A type of the server, the browser
 * and the client.
 *
 * Nothing runs and nothing is sent before the first read. Leaving the loop early (`break`, `return`, a throw) ends the
 * function on the server at its current `yield`, and its `finally` runs.
 *
 * @see docs/protocol.md 6.4 and 6.5
 */
export interface Stream<T> extends AsyncIterable<T> {
  /** Ends the stream from outside the loop. The loop then ends without an error. */
  cancel(): void;
}

/** One line of the body: it has exactly one of these members. */
interface StreamLine {
  /** A value that the function yielded. */
  readonly chunk?: unknown;
  /** The function has returned; this is the last line. */
  readonly done?: true;
  /** The function has thrown; this is the last line. */
  readonly error?: ErrorBody;
}

/** The last line of a function that has returned. */
export const DONE_LINE = '{"done":true}';

/** Returns the line of a value. */
export function chunkLine(valueJson: string): string {
  return `{"chunk":${valueJson}}`;
}

/** Returns the last line of a function that has thrown. */
export function errorLine(errorJson: string): string {
  return `{"error":${errorJson}}`;
}

/**
 * Yields the lines of a body without their `\n`, empty lines included. Text after the last `\n` is a line if it is not
 * empty. Chunks may split characters and lines anywhere.
 *
 * Lines that arrive together are yielded together, so that the reader can process them in one batch. Leaving the loop
 * does not close the body: abort the request with its `AbortController`. Event streams are read with it too.
 *
 * @throws the error of reading the body
 */
export async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<readonly string[], void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let partialLine = "";
  for (;;) {
    const { done, value } = await reader.read();
    const lines = decoder.decode(value, { stream: !done }).split("\n");
    lines[0] = partialLine + lines[0];
    partialLine = lines.pop() as string; // split() returns at least one item
    yield lines;
    if (done) break;
  }
  if (partialLine) yield [partialLine];
}
