import { ConfigError } from "../../config/index.ts";
import { LineSummary, type Logger } from "../../logging/index.ts";
import {
  type Balance,
  CountLimit,
  type MemoryRateStore,
  type RateStore,
  type Refusal,
  StoreUnavailableError,
  type Use,
} from "../../rate-limit/index.ts";
import { isReplyError } from "./client/index.ts";

/** How long a call waits for the shared store, in milliseconds, before this process counts it. */
const CALL_TIMEOUT_MS = 250;

/** How long `start` waits for the shared store, so that the first calls find it connected. */
const START_TIMEOUT_MS = 1_000;

/** How long a shared store may answer nothing before it counts as unreachable, and not only as slow. */
const SILENCE_MS = 5_000;

/** How long to wait between two probes of a shared store that is unreachable or slow. */
const PROBE_DELAY_MS = 1_000;

/** The longest delay between two probes, for a store that becomes unreachable or slow again and again. */
const MAX_PROBE_DELAY_MS = 60_000;

/** How long the shared store has to work for the delay to start again at {@link PROBE_DELAY_MS}. */
const STABLE_AFTER_MS = 60_000;

/** What probes count, at most once a second: it is never reached, so that each of them writes. */
const PROBE: CountLimit = new CountLimit("probe", { calls: 1_000, seconds: 60 }, "probes");

/** The two stores of a {@link FallbackRateStore}. */
export interface FallbackRateStoreOptions {
  /** The store that several processes share. It may reject, or never settle. */
  readonly shared: RateStore;
  /** The store of this process. */
  readonly local: MemoryRateStore;
  readonly log: Logger;
}

/**
 * Whether the shared store is used. `slow`: it has not answered a call in time, and may be busy only. `unreachable`: the
 * connection is lost, or nothing was answered for 5 seconds. `refusing`: it is reachable and has refused the command, for
 * example because its memory is full.
 */
type State = "shared" | "slow" | "unreachable" | "refusing";

/** What the log calls a state, and its end. A slow store is summarized. */
const NAMES = {
  unreachable: { start: "is unreachable", end: "is reachable" },
  refusing: { start: "refuses writes", end: "accepts writes" },
} as const;

/**
 * Counts in a store that processes share, and in this process alone while the shared store is slow or unreachable.
 *
 * No call fails because of the shared store, and none waits for it longer than 250 ms. The first call that
 * gets an error, or no response in time, switches all further calls to the local store. From then on the
 * shared store is probed once a second, independently of calls, until it responds. The delay doubles each
 * time that the store fails again within a minute, up to a minute, so that an unstable store
 * does not fill the log, and delays few calls.
 *
 * A strict use fails in place of being counted in this process.
 *
 * A late response is logged as slow, at most once a minute. That the store is unreachable is logged once for each outage.
 *
 * Calls that the shared store accepts are also counted in the local store, so that a switch continues with
 * the counts of this process. Switching back transfers no counts: for one span a client may make more calls
 * than its rate allows.
 *
 * @see docs/protocol.md 9.4
 */
export class FallbackRateStore implements RateStore {
  readonly #shared: RateStore;
  readonly #local: MemoryRateStore;
  readonly #log: Logger;
  readonly #slowCalls: LineSummary<"slow">;
  #state: State = "shared";
  #probeTimer: NodeJS.Timeout | undefined;
  /** Runs while nothing was answered since a response was late. */
  #silenceTimer: NodeJS.Timeout | undefined;
  #probeDelayMs = PROBE_DELAY_MS;
  #sharedSinceMs = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor({ shared, local, log }: FallbackRateStoreOptions) {
    this.#shared = shared;
    this.#local = local;
    this.#log = log;
    this.#slowCalls = new LineSummary({
      write: (fields, message) => log.warn(fields, message),
      countField: "calls",
      describe: (count) => `The shared rate limit store was slow for ${count === 1 ? "1 call" : `${count} calls`}`,
    });
  }

  /**
   * Probes the shared store once, for up to a second. Logs if it is slow or unreachable.
   *
   * @throws ConfigError if the shared store cannot be used with this configuration
   */
  async start(): Promise<void> {
    try {
      await this.#inTime(() => this.#probeShared(), START_TIMEOUT_MS);
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      this.#failed(error);
    }
  }

  take(limits: readonly CountLimit[], keys: readonly string[]): Refusal | null | Promise<Refusal | null> {
    return this.#state === "shared" ? this.#takeShared(limits, keys) : this.#local.take(limits, keys);
  }

  use(limit: CountLimit, key: string, use: Use): Balance | Promise<Balance> {
    if (this.#state === "shared") return this.#useShared(limit, key, use);
    if (use.strict) throw new StoreUnavailableError(UNAVAILABLE);
    return this.#local.use(limit, key, use);
  }

  /** Stops probing, and logs what was counted. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#probeTimer);
    clearTimeout(this.#silenceTimer);
    this.#slowCalls.close();
  }

  async #takeShared(limits: readonly CountLimit[], keys: readonly string[]): Promise<Refusal | null> {
    try {
      const refusal = await this.#inTime(() => this.#shared.take(limits, keys), CALL_TIMEOUT_MS);
      if (refusal === null) this.#local.take(limits, keys);
      return refusal;
    } catch (error) {
      this.#failed(error);
      return this.#local.take(limits, keys);
    }
  }

  async #useShared(limit: CountLimit, key: string, use: Use): Promise<Balance> {
    try {
      const balance = await this.#inTime(() => this.#shared.use(limit, key, use), CALL_TIMEOUT_MS);
      if (balance.isCounted) this.#local.use(limit, key, { mode: "charge", cost: use.cost });
      return balance;
    } catch (error) {
      this.#failed(error);
      if (use.strict) throw new StoreUnavailableError(UNAVAILABLE);
      return this.#local.use(limit, key, use);
    }
  }

  /** Counts as a call does: at the start, Redis then has the script before many calls need it at once. */
  #probeShared(): Refusal | null | Promise<Refusal | null> {
    return this.#shared.take([PROBE], [""]);
  }

  /** Runs an operation of the shared store. @throws LateError after a number of milliseconds without a response */
  async #inTime<T>(operation: () => T | Promise<T>, timeoutMs: number): Promise<T> {
    const response = new Promise<T>((resolve) => resolve(operation()));
    try {
      return await withTimeout(response, timeoutMs);
    } catch (error) {
      if (error instanceof LateError && !this.#isClosed && !this.#isStopped) this.#expectAnswer(response, timeoutMs);
      throw error;
    }
  }

  /** Whether it is known that the shared store cannot be used, and not only that it is slow. */
  get #isStopped(): boolean {
    return this.#state === "unreachable" || this.#state === "refusing";
  }

  #failed(error: unknown): void {
    if (!(error instanceof LateError)) this.#stop(error);
    else if (!this.#isClosed && !this.#isStopped) {
      this.#slowCalls.add("slow", {}, error.message);
      this.#useLocal("slow");
    }
  }

  /** Logs that the shared store cannot be used, unless this is known. */
  #stop(error: unknown): void {
    if (this.#isClosed || this.#isStopped) return;
    // Only the message is logged: the error of a Redis client contains the command, which contains the
    // address of an application's client.
    const reason = error instanceof Error ? error.message : String(error);
    const state = isReplyError(error) ? "refusing" : "unreachable";
    this.#log.warn({ reason }, `The shared rate limit store ${NAMES[state].start}; this process counts for itself`);
    this.#answered(); // nothing is expected any more
    this.#useLocal(state);
  }

  #useLocal(state: Exclude<State, "shared">): void {
    const isProbed = this.#state !== "shared";
    this.#state = state;
    if (isProbed) return;
    const isUnstable = performance.now() - this.#sharedSinceMs < STABLE_AFTER_MS;
    this.#probeDelayMs = isUnstable ? Math.min(this.#probeDelayMs * 2, MAX_PROBE_DELAY_MS) : PROBE_DELAY_MS;
    this.#scheduleProbe();
  }

  /**
   * Treats a slow store as unreachable if this response is an error, or if nothing is answered for some seconds.
   *
   * @param waitedMs how long the response has been missing
   */
  #expectAnswer(response: Promise<unknown>, waitedMs: number): void {
    // If the store has answered since, the outage is over.
    const stop = (error: unknown) => this.#state === "slow" && this.#stop(error);
    response.then(() => this.#answered(), stop);
    const silent = () => stop(new Error(`Nothing was answered for ${SILENCE_MS / 1000} seconds.`));
    this.#silenceTimer ??= setTimeout(() => {
      // As in withTimeout: the response may be in the socket's buffer.
      const timer = this.#silenceTimer;
      setImmediate(() => this.#silenceTimer === timer && silent());
    }, SILENCE_MS - waitedMs).unref();
  }

  #answered(): void {
    clearTimeout(this.#silenceTimer);
    this.#silenceTimer = undefined;
  }

  #scheduleProbe(): void {
    if (this.#isClosed) return;
    this.#probeTimer = setTimeout(() => void this.#probe(), this.#probeDelayMs);
    this.#probeTimer.unref();
  }

  async #probe(): Promise<void> {
    try {
      // Without a timeout: a store that hangs responds when it continues, or its connection is closed.
      const response = Promise.resolve(this.#probeShared());
      if (this.#state === "slow") this.#expectAnswer(response, 0);
      await response;
    } catch {
      return this.#scheduleProbe(); // the cause is logged
    }
    const ended = this.#state;
    this.#state = "shared";
    this.#sharedSinceMs = performance.now();
    this.#answered();
    if (ended === "unreachable" || ended === "refusing") {
      this.#log.info({}, `The shared rate limit store ${NAMES[ended].end} again; all processes share the counts`);
    }
  }
}

const UNAVAILABLE = "The count that processes share is unreachable.";

/** The shared store has not responded in time. */
class LateError extends Error {}

/** Rejects with {@link LateError} if a response takes longer than a number of milliseconds. */
function withTimeout<T>(response: Promise<T>, timeoutMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const rejectWithTimeout = () =>
      reject(
        new LateError(
          `The shared rate limit store is slow: no response within ${timeoutMs} ms; this process counts for itself until it responds`,
        ),
      );
    // If this process was busy itself, the response may be in the socket's buffer. The event loop reads it
    // before it runs `setImmediate` callbacks.
    const timer = setTimeout(() => setImmediate(rejectWithTimeout), timeoutMs);
    response.finally(() => clearTimeout(timer)).then(resolve, reject);
  });
}
