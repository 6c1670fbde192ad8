/** How long a stream may run before it yields to the event loop, in milliseconds. */
const MAX_RUN_MS = 2;

/**
 * Returns a function that yields to the event loop if 2 ms have passed since it last did.
 *
 * Without it, a generator that awaits no I/O, read by a client as fast as it writes, would run in microtasks alone
 * and block all other requests.
 *
 * @see docs/protocol.md 6.3
 */
export function eventLoopYielder(): () => Promise<void> {
  let startedAt = performance.now();
  return async () => {
    if (performance.now() - startedAt < MAX_RUN_MS) return;
    await new Promise<void>((resolve) => setImmediate(resolve));
    startedAt = performance.now();
  };
}
