import { ConfigError } from "../config/index.ts";
import type { Logger } from "../logging/index.ts";
import { isReplyError } from "../redis/index.ts";
import type { RateStore } from "./store.ts";

/** How long a call waits for the shared store, in milliseconds, before this process counts it. */
const CALL_TIMEOUT_MS = 250;

/** How long `start` waits for the shared store, so that the first calls find it connected. */
const START_TIMEOUT_MS = 1_000;

/** How long to wait between two probes of a shared store that is unreachable. */
const PROBE_DELAY_MS = 1_000;

/** The longest delay between two probes, for a store that becomes unreachable again and again. */
const MAX_PROBE_DELAY_MS = 60_000;

/** How long the shared store has to work for the delay to start again at {@link PROBE_DELAY_MS}. */
const STABLE_AFTER_MS = 60_000;

/** The key of probes. It is not an address, so it does not collide with a client's key. */
const PROBE_KEY = "(probe)";

/** The two stores of a {@link FallbackRateStore}. */
export interface FallbackRateStoreOptions {
  /** The store that several processes share. It may reject, or never settle. */
  readonly shared: RateStore;
  /** The store of this process. */
  readonly local: RateStore;
  readonly log: Logger;
}

/**
 * Counts in a store that processes share, and in this process alone while the shared store is unreachable.
 *
 * No call fails because of the shared store, and none waits for it longer than 250 ms. The first call that
 * gets an error, or no response in time, switches all further calls to the local store. From then on the
 * shared store is probed once a second, independently of calls, until it responds. The delay doubles each
 * time that the store becomes unreachable again within a minute, up to a minute, so that an unstable store
 * does not fill the log.
 *
 * Calls that the shared store accepts are also counted in the local store, so that a switch continues with
 * the counts of this process. Switching back transfers no counts: for one span a client may make more calls
 * than its rate allows.
 *
 * @see docs/protocol.md 9.4
 */
export class FallbackRateStore implements RateStore {
  readonly #shared: RateStore;
  readonly #local: RateStore;
  readonly #log: Logger;
  #isUnreachable = false;
  /** Whether it is reachable and has refused the command, for example because its memory is full. */
  #isRefused = false;
  #probeTimer: NodeJS.Timeout | undefined;
  #probeDelayMs = PROBE_DELAY_MS;
  #reachableSinceMs = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor({ shared, local, log }: FallbackRateStoreOptions) {
    this.#shared = shared;
    this.#local = local;
    this.#log = log;
  }

  /**
   * Probes the shared store once, for up to a second. Logs if it is unreachable.
   *
   * @throws ConfigError if the shared store cannot be used with this configuration
   */
  async start(): Promise<void> {
    try {
      await withTimeout(this.#shared.take(PROBE_KEY), START_TIMEOUT_MS);
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      this.#switchToLocal(error);
    }
  }

  take(key: string): number | Promise<number> {
    return this.#isUnreachable ? this.#local.take(key) : this.#takeShared(key);
  }

  /** Stops probing. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#probeTimer);
  }

  async #takeShared(key: string): Promise<number> {
    try {
      const wait = await withTimeout(this.#shared.take(key), CALL_TIMEOUT_MS);
      if (wait === 0) await this.#local.take(key);
      return wait;
    } catch (error) {
      this.#switchToLocal(error);
      return this.#local.take(key);
    }
  }

  #switchToLocal(error: unknown): void {
    if (this.#isUnreachable || this.#isClosed) return;
    this.#isUnreachable = true;
    // Only the message is logged: the error of a Redis client contains the command, which contains the
    // address of an application's client.
    const reason = error instanceof Error ? error.message : String(error);
    this.#isRefused = isReplyError(error);
    const state = this.#isRefused ? "refuses writes" : "is unreachable";
    this.#log.warn({ reason }, `The shared rate limit store ${state}; this process counts for itself`);
    const isUnstable = performance.now() - this.#reachableSinceMs < STABLE_AFTER_MS;
    this.#probeDelayMs = isUnstable ? Math.min(this.#probeDelayMs * 2, MAX_PROBE_DELAY_MS) : PROBE_DELAY_MS;
    this.#scheduleProbe();
  }

  #scheduleProbe(): void {
    if (this.#isClosed) return;
    this.#probeTimer = setTimeout(() => void this.#probe(), this.#probeDelayMs);
    this.#probeTimer.unref();
  }

  async #probe(): Promise<void> {
    try {
      // Without a timeout: a store that hangs responds when it continues, or its connection is closed.
      await this.#shared.take(PROBE_KEY);
    } catch {
      return this.#scheduleProbe(); // still unreachable, which was logged before
    }
    this.#isUnreachable = false;
    this.#reachableSinceMs = performance.now();
    const state = this.#isRefused ? "accepts writes" : "is reachable";
    this.#log.info({}, `The shared rate limit store ${state} again; all processes share the counts`);
  }
}

/** Rejects if a response takes longer than a number of milliseconds. */
function withTimeout(response: number | Promise<number>, timeoutMs: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const rejectWithTimeout = () =>
      reject(new Error(`The shared rate limit store did not respond within ${timeoutMs} ms.`));
    // If this process was busy itself, the response may be in the socket's buffer. The event loop reads it
    // before it runs `setImmediate` callbacks.
    const timer = setTimeout(() => setImmediate(rejectWithTimeout), timeoutMs);
    Promise.resolve(response)
      .finally(() => clearTimeout(timer))
      .then(resolve, reject);
  });
}
