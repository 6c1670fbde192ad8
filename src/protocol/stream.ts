/**
 * What a streaming function gives its caller: values one by one, with `for await`.
 *
 * Nothing runs, and nothing is sent, before the first value is asked for. Leaving the loop early
 * (`break`, `return`, a throw) ends the function on the server: its `finally` runs, and nothing
 * after the `yield` it stands at does.
 *
 * @see the interface, "Streaming RPC call"
 */
export interface Stream<T> extends AsyncIterable<T> {
  /** Ends the stream from outside the loop; the loop then ends without an error. */
  cancel(): void;
}
