import { ConfigError } from "../config/index.ts";
import type { Log } from "../logging/index.ts";
import type { RateStore } from "./store.ts";

/** How long a call waits for the shared store, in milliseconds, before this process counts it. */
const ANSWER_MS = 250;

/** How long a start waits for it: the first calls should find it there. */
const START_MS = 1_000;

/** How often a store that is away is asked whether it is back. */
const PROBE_MS = 1_000;

/** How often at least, where it went again soon after it was back, and again. */
const LONGEST_PROBE_MS = 60_000;

/** How soon is soon. */
const STEADY_MS = 60_000;

/** The client as which it is asked. No address looks like this. */
const PROBE = "(probe)";

/** What {@link FallbackRateStore} counts with. */
export interface FallbackRateStoreOptions {
  /** What processes count in together. It may fail, or never answer. */
  readonly shared: RateStore;
  /** What this process counts in by itself. */
  readonly own: RateStore;
  readonly log: Log;
}

/**
 * Counts in a store that processes share, and in this process alone while that is away. No call
 * fails for the store's sake, and none waits for it longer than 250 ms: the first that gets no
 * answer in that time, or an error, sends all that follow to this process's own count. From then on
 * the store is asked once a second, beside the calls, until it answers; half as often each time that
 * it goes again within a minute, so that one that comes and goes does not fill the log.
 *
 * What the shared store lets through is counted in the own one as well, so that this goes on from
 * what the process has seen rather than from nothing. On the way back nothing is carried over: for
 * one span a client may then have more calls than its rate.
 */
export class FallbackRateStore implements RateStore {
  readonly #shared: RateStore;
  readonly #own: RateStore;
  readonly #log: Log;
  #isAway = false;
  #probe: NodeJS.Timeout | undefined;
  #probeMs = PROBE_MS;
  #backAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor({ shared, own, log }: FallbackRateStoreOptions) {
    this.#shared = shared;
    this.#own = own;
    this.#log = log;
  }

  /**
   * Asks the shared store once, for a second at most, and has it said in the log when it is away.
   *
   * @throws ConfigError when it cannot be used at all
   */
  async start(): Promise<void> {
    try {
      await within(this.#shared.take(PROBE), START_MS);
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      this.#leave(error);
    }
  }

  take(key: string): number | Promise<number> {
    return this.#isAway ? this.#own.take(key) : this.#takeShared(key);
  }

  /** Asks no more. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#probe);
  }

  async #takeShared(key: string): Promise<number> {
    try {
      const wait = await within(this.#shared.take(key), ANSWER_MS);
      if (wait === 0) await this.#own.take(key);
      return wait;
    } catch (error) {
      this.#leave(error);
      return this.#own.take(key);
    }
  }

  #leave(error: unknown): void {
    if (this.#isAway || this.#isClosed) return;
    this.#isAway = true;
    // Its message and no more: an error of a client holds the command, and that the client's address.
    const reason = error instanceof Error ? error.message : String(error);
    this.#log.warn({ reason }, "The shared rate store is away: this process counts calls by itself");
    const isSoon = performance.now() - this.#backAt < STEADY_MS;
    this.#probeMs = isSoon ? Math.min(this.#probeMs * 2, LONGEST_PROBE_MS) : PROBE_MS;
    this.#askLater();
  }

  #askLater(): void {
    if (this.#isClosed) return;
    this.#probe = setTimeout(() => void this.#ask(), this.#probeMs);
    this.#probe.unref();
  }

  async #ask(): Promise<void> {
    try {
      // Without a limit of time: a store that hangs answers when it goes on, or its connection ends.
      await this.#shared.take(PROBE);
    } catch {
      return this.#askLater(); // It is away still, and that has been said.
    }
    this.#isAway = false;
    this.#backAt = performance.now();
    this.#log.info({}, "The shared rate store is back: processes count calls together");
  }
}

/** Waits for an answer up to a time. */
function within(answer: number | Promise<number>, ms: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const refuse = () => reject(new Error(`There was no answer in ${ms} ms.`));
    // When this process itself was busy, the answer may lie there unread: it is read before `refuse` runs.
    const timer = setTimeout(() => setImmediate(refuse), ms);
    Promise.resolve(answer)
      .finally(() => clearTimeout(timer))
      .then(resolve, reject);
  });
}
