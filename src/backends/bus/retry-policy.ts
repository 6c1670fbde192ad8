import { UnreachableError } from "../../reconnect.ts";

/** How long `position`, `read` and `watch` of a bus take at most. */
const TIMEOUT_MS = 2_000;

/** Returns whether an error is transient: the same operation may succeed when it is tried again. */
export type IsTransient = (error: unknown) => boolean;

/**
 * Retries operations on a bus until they succeed, for up to two seconds each. The bus in Redis and the bus
 * in NATS both use it for everything except publishing, which needs an order: see `PublishQueue`.
 */
export class RetryPolicy {
  readonly #isTransient: IsTransient;
  readonly #pending = new Set<(error: Error) => void>();
  readonly #retries = new RetryQueue();
  #isClosed = false;

  constructor(isTransient: IsTransient) {
    this.#isTransient = isTransient;
  }

  /**
   * Runs an operation until it succeeds.
   *
   * @param attempt starts one attempt; it may reject, or never settle
   * @returns the result of the first attempt that succeeds
   * @throws the error of an attempt if it is not transient; an UnreachableError with the last reason after two seconds;
   *   an Error if the bus is closed
   */
  run<T>(attempt: () => Promise<T>): Promise<T> {
    if (this.#isClosed) return Promise.reject(closedError());
    return new Promise((resolve, reject) => {
      let lastError: unknown;
      const settle = (action: () => void) => {
        clearTimeout(timer);
        if (this.#pending.delete(fail)) action();
      };
      const fail = (error: unknown) => settle(() => reject(error));
      const timer = setTimeout(() => fail(timeoutError(lastError)), TIMEOUT_MS);
      this.#pending.add(fail);
      const run = () => {
        if (retry.isCancelled()) return;
        attempt().then(
          (value) => {
            this.#retries.record(true);
            settle(() => resolve(value));
          },
          (error: unknown) => {
            const isTransient = this.#isTransient(error);
            lastError = error;
            // An error that is not transient shows that the bus is reachable.
            this.#retries.record(!isTransient);
            if (!isTransient) fail(error);
            else if (!retry.isCancelled()) this.#retries.add(retry);
          },
        );
      };
      const retry: Retry = { run, isCancelled: () => !this.#pending.has(fail) };
      run();
    });
  }

  /** Rejects all pending operations, and all further ones. */
  close(): void {
    this.#isClosed = true;
    this.#retries.close();
    for (const fail of this.#pending) fail(closedError());
  }
}

function closedError(): Error {
  return new Error("The bus is closed.");
}

function timeoutError(lastError: unknown): Error {
  const reason = lastError === undefined ? "" : ` ${errorMessage(lastError)}`;
  return new UnreachableError(`The bus did not respond within ${TIMEOUT_MS / 1000} s.${reason}`, { cause: lastError });
}

/** Returns the message of an error, or the text of anything else that was thrown. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** How long to wait between two rounds of retries. */
const RETRY_DELAY_MS = 50;

/** An operation that is to be tried again. */
export interface Retry {
  /** Tries again. Must not throw. */
  run(): void;
  /** Returns whether the result is not needed any more: the operation has timed out or the bus is closed. */
  isCancelled(): boolean;
}

/**
 * Retries operations that failed because the bus was unreachable. Every 50 ms it runs the one that has
 * waited longest, so that a server that is unreachable does not get more requests when more operations wait.
 * As soon as the bus has responded to an operation, the next round runs all of them.
 */
export class RetryQueue {
  /** In the order of waiting, longest first. */
  readonly #waiting = new Set<Retry>();
  #timer: NodeJS.Timeout | undefined;
  #isReachable = true;

  /** Records whether the bus has responded to the last operation: a first attempt or a retry. */
  record(isReachable: boolean): void {
    this.#isReachable = isReachable;
  }

  /** Adds an operation to be tried again. */
  add(retry: Retry): void {
    this.#waiting.add(retry);
    this.#schedule();
  }

  /** Drops all operations. */
  close(): void {
    clearTimeout(this.#timer);
    this.#waiting.clear();
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => this.#runRound(), RETRY_DELAY_MS);
  }

  #runRound(): void {
    this.#timer = undefined;
    // One more in each round, without waiting for the one before: an attempt may never settle.
    let remaining = this.#isReachable ? Number.POSITIVE_INFINITY : 1;
    for (const retry of [...this.#waiting]) {
      // Running a cancelled one ends it; it does not count.
      if (!retry.isCancelled() && remaining-- <= 0) continue;
      this.#waiting.delete(retry);
      retry.run();
    }
    if (this.#waiting.size > 0) this.#schedule();
  }
}
