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
