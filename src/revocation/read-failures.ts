import type { ConfigError } from "../config/index.ts";
import type { Logger } from "../logging/index.ts";
import { UnreachableError } from "../reconnect.ts";

/** Logs that the revocation log cannot be read, and that it can be read again: a line for each change of state. */
export class ReadFailures {
  readonly #log: Logger;
  /** When it could not be read for the first time; `undefined` while it can be read. */
  #sinceMs: number | undefined;
  #hasLoggedFailure = false;
  /** The last error of the configuration that was logged. */
  #loggedMisconfiguration = "";
  #isClosed = false;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Logs that the start waits for the first read, which began at `sinceMs`. */
  waiting({ sinceMs, maxMs }: { readonly sinceMs: number; readonly maxMs: number }): void {
    if (this.#isClosed) return;
    this.#sinceMs ??= sinceMs;
    this.#log.warn({}, `Waiting for the first read of the revocation log, for up to ${maxMs / 1000} s`);
  }

  /** Logs that the start waits no longer. */
  waitedInVain(maxMs: number): void {
    if (this.#isClosed) return;
    const problem = `The revocation log could not be read within ${maxMs / 1000} s.`;
    this.#log.warn({}, `${problem} The start goes on without it. ${CONSEQUENCE_BEFORE_FIRST_READ}`);
  }

  /** Logs a failed read, once until {@link succeeded}. */
  failed(err: unknown, { isLoaded }: { readonly isLoaded: boolean }): void {
    if (this.#hasLoggedFailure || this.#isClosed) return;
    this.#hasLoggedFailure = true;
    this.#sinceMs ??= performance.now();
    const cause = err instanceof UnreachableError ? { reason: err.message } : { err };
    const consequence = isLoaded ? CONSEQUENCE : CONSEQUENCE_BEFORE_FIRST_READ;
    this.#log.warn(cause, `The revocation log cannot be read; retrying. ${consequence}`);
  }

  /** Logs a read that has failed because of the configuration, once for each message until {@link succeeded}. */
  misconfigured({ message }: ConfigError): void {
    if (message === this.#loggedMisconfiguration || this.#isClosed) return;
    this.#loggedMisconfiguration = message;
    this.#hasLoggedFailure = true;
    this.#sinceMs ??= performance.now();
    this.#log.error({}, `The revocation log cannot be read; retrying. ${message}`);
  }

  /** Logs how long the log could not be read, if anything was logged about that. */
  succeeded(): void {
    if (this.#sinceMs === undefined || this.#isClosed) return;
    const ms = Math.round(performance.now() - this.#sinceMs);
    const message = this.#hasLoggedFailure ? "The revocation log can be read again" : "The revocation log was read";
    this.#sinceMs = undefined;
    this.#hasLoggedFailure = false;
    this.#loggedMisconfiguration = "";
    this.#log.info({ ms }, message);
  }

  /** Stops logging. */
  close(): void {
    this.#isClosed = true;
  }
}

const CONSEQUENCE = "Revocations of other processes take effect when it can be read again";
const CONSEQUENCE_BEFORE_FIRST_READ = "Requests of signed-in users are answered with 503 until it can be read";
