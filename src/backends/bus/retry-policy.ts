import { UnreachableError } from "../../reconnect.ts";
import { type Retry, RetryQueue } from "./retry-queue.ts";

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
