import type { Logger } from "../logging/index.ts";

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
