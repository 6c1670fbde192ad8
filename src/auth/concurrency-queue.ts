import { RPCError } from "../errors.ts";

/** The limits of a queue that {@link createConcurrencyQueue} creates. */
export interface ConcurrencyQueueOptions {
  /** The maximum number of tasks that run at once. */
  readonly maxRunning: number;
  /** The maximum number of tasks that wait. */
  readonly maxQueued: number;
}

/**
 * Returns a function that runs expensive tasks: at most `maxRunning` at once, and at most `maxQueued` waiting, in the
 * order in which they were added. A further task is rejected with `RPCError` `rate_limited`, and does not run.
 *
 * It limits what anonymous clients can start, such as password hashing. Without it, a burst of sign-ins would take all
 * threads and delay every other request (denial of service).
 */
export function createConcurrencyQueue({
  maxRunning,
  maxQueued,
}: ConcurrencyQueueOptions): <T>(task: () => Promise<T>) => Promise<T> {
  const queue: (() => void)[] = [];
  let running = 0;

  return async (task) => {
    if (running < maxRunning) {
      running++;
    } else {
      if (queue.length >= maxQueued) {
        throw new RPCError("rate_limited", "The server is busy. Please try again in a moment.");
      }
      // The ending task passes its slot to the next one and does not decrement `running`: no new task can get ahead.
      await new Promise<void>((resolve) => queue.push(resolve));
    }
    try {
      return await task();
    } finally {
      const next = queue.shift();
      if (next) next();
      else running--;
    }
  };
}
