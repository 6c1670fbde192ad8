/** What a call waits for after its response: in a page with live updates, for the messages that it has published. */

/** Resolves when the page has received what a response names. */
type WaitForMessages = (response: Response) => unknown;

/** Its function is set by live.ts, so that other pages do not load it. Module state: a page has one connection. */
export const landing: { wait?: WaitForMessages | undefined } = {};

/** Calls a function. The server functions that it calls before its first `await` use `wait` in place of that of the page. */
export function withLanding<T>(wait: WaitForMessages | undefined, call: () => T): T {
  const previous = landing.wait;
  landing.wait = wait;
  try {
    return call();
  } finally {
    landing.wait = previous;
  }
}

/**
 * Makes a call whose promise resolves with the response. Without it, in a page that listens to channels, the promise of a call
 * resolves when the page has received the messages that the call has published to them, or after two seconds.
 *
 * @param call calls a server function
 * @see docs/protocol.md 10.13
 * @example const id = await no_wait(() => add(board, title));
 */
export function no_wait<T>(call: () => T): T {
  return withLanding(undefined, call);
}
