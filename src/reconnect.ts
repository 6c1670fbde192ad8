import type { Logger } from "./logging/index.ts";

const FIRST_DELAY_MS = 50;
const MAX_DELAY_MS = 2_000;

/**
 * Returns how long to wait before the next attempt to reconnect to Redis or NATS, in milliseconds.
 *
 * The upper bound starts at 50 ms, doubles with each attempt and stops at 2 s. The delay is random
 * between half of the bound and the bound ("equal jitter"), so that the processes of an application do
 * not all reconnect in the same moment.
 *
 * @param attempt 1 for the first attempt after the connection was lost
 * @param random from 0 (inclusive) to 1; replaced in tests
 */
export function backoffMs(attempt: number, random: number = Math.random()): number {
  const bound = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 1));
  return Math.round(bound * (0.5 + random / 2));
}

/**
 * Waits for a promise, but no longer than a time. Its timer keeps the process running. Where nothing else does, as before a
 * server listens, Node would end a program that waits with the exit code 13.
 *
 * @param late the result if the promise is still pending after `ms` milliseconds
 */
export async function waitAtMost<T, L>(promise: Promise<T>, ms: number, late: L): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<L>((resolve) => {
    timer = setTimeout(resolve, ms, late);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Returns a function that runs an operation for several callers together. Each call resolves with the result of a run that
 * has started after the call, or with it.
 *
 * @param run the operation, of which one run at most is in progress. It receives the argument of the first of its callers.
 * @param intervalMs the least time between the starts of two runs
 */
export function coalesce<Argument, Result>(
  run: (argument: Argument) => Promise<Result>,
  intervalMs = 0,
): (argument: Argument) => Promise<Result> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<Result> | undefined;
  let startedAtMs = Number.NEGATIVE_INFINITY;
  return (argument) => {
    next ??= running.then(async () => {
      const delayMs = startedAtMs + intervalMs - performance.now();
      if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs).unref());
      next = undefined;
      startedAtMs = performance.now();
      const result = run(argument);
      running = result.catch(() => undefined); // the callers get the error
      return result;
    });
    return next;
  };
}

/**
 * Thrown when a server did not respond in time, or no connection to it could be established. Its message is complete: a log
 * line about it needs no stack.
 */
export class UnreachableError extends Error {
  override get name(): string {
    return "UnreachableError";
  }
}

/** The options of a {@link ReachabilityLog}. */
export interface ReachabilityLogOptions {
  /** The name of the service, as the log line starts: `Redis` or `NATS`. */
  readonly service: string;
  /** The fields of each line, for example the address. Never a name or a password. */
  readonly fields: object;
  readonly log: Logger;
}

/**
 * Logs that a service is unreachable, and that it is reachable again: one line for each change of state,
 * regardless of the number of failed attempts in between. A new log starts as reachable.
 */
export class ReachabilityLog {
  readonly #options: ReachabilityLogOptions;
  #isReachable = true;
  #isClosed = false;

  constructor(options: ReachabilityLogOptions) {
    this.#options = options;
  }

  /** Whether the last attempt did not fail. */
  get isReachable(): boolean {
    return this.#isReachable;
  }

  /** Records a failure. Logs a warning if the service was reachable before. */
  unreachable(reason: string): void {
    if (!this.#isReachable || this.#isClosed) return;
    this.#isReachable = false;
    const { service, fields, log } = this.#options;
    log.warn({ ...fields, reason }, `${service} is unreachable; retrying`);
  }

  /** Records a success. Logs a line if the service was unreachable before. */
  reachable(): void {
    if (this.#isReachable) return;
    this.#isReachable = true;
    const { service, fields, log } = this.#options;
    log.info(fields, `${service} is reachable again`);
  }

  /** Stops logging failures: the application closes the connection itself. */
  close(): void {
    this.#isClosed = true;
  }
}
