import type { Logger } from "../logging/index.ts";

/** How long `on_start` may run until that is logged, in milliseconds. Nothing is served meanwhile. */
const SLOW_START_MS = 10_000;

/**
 * Returns a function that runs `on_start` once, however often it is called, and resolves when it has ended. After a failure,
 * the next call runs it again.
 *
 * @throws (rejects) Error with the error of `on_start` as its cause
 */
export function createStartHook(onStart: (() => unknown) | undefined, log: Logger): () => Promise<void> {
  let running: Promise<void> | undefined;
  const run = async () => {
    const slow = setTimeout(() => log.warn({ seconds: SLOW_START_MS / 1000 }, SLOW_START), SLOW_START_MS);
    try {
      await onStart?.();
    } catch (cause) {
      throw new Error("on_start of new App failed, so that the application does not start.", { cause });
    } finally {
      clearTimeout(slow);
    }
  };
  return () => {
    running ??= run().catch((error: unknown) => {
      running = undefined;
      throw error;
    });
    return running;
  };
}

const SLOW_START =
  "on_start of new App has not ended yet. No request is served until it has. Do not await work that runs for as long as the " +
  "application, such as a loop";
