/**
 * The return type of a server function that returns one result: a promise of it that can be cancelled. A type of the
 * server, the browser and the client.
 *
 * @see docs/protocol.md 3.7
 */
export interface Call<T> extends Promise<T> {
  /**
   * Cancels the call: the promise rejects with a `DOMException` whose name is `AbortError`, like that of an aborted
   * `fetch`. It has no effect after the promise has settled. The rejection need not be handled.
   *
   * The request is aborted, so `request.signal` aborts on the server. A function that ignores the signal runs to its
   * end: its changes may have been made. For a call from server code there is no request, and the function always runs
   * to its end.
   */
  cancel(): void;
}

/** Returns the error of a cancelled call. It is not an `RPCError`, because the server has not sent it. */
export function cancelledError(name: string): DOMException {
  return new DOMException(`${name}: the call was cancelled`, "AbortError");
}
