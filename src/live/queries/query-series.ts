import type { Position } from "../../backends/index.ts";
import type { RPCError } from "../../errors.ts";
import { runOutsideRequests, UnavailableError } from "../../http/index.ts";
import type { VerifiedSession } from "../../session/index.ts";
import type { QueryCall, ShownQuery } from "./definition.ts";
import { QueryChannels, type QueryHub } from "./query-channels.ts";
import type { CacheEntry, RunSlots, ValueCache } from "./query-limits.ts";
import type { RunOutcome } from "./query-run.ts";
import { type QueryFrameText, type SeriesFailure, SeriesResult, type SeriesValue } from "./series-result.ts";

/** The shortest time between the begins of two runs for pages that are open, and what each of the pages adds to it, up to a second. */
const INTERVAL_MS = 50;
const INTERVAL_MS_PER_RECEIVER = 0.02;
const MAX_INTERVAL_MS = 1_000;

/** How long the next run waits for the function of a run that is over its time limit, and still runs. */
const UNFINISHED_MS = 60_000;

/** How often a run is tried again while the bus does not respond. */
const BUS_RETRY_MS = 1_000;

/** How the functions of queries are run. Neither method throws, and the promise does not reject. */
export interface QueryRunner {
  /** @param session `undefined` for a run that is shared by all receivers, `null` for one of signed-out clients */
  run(call: QueryCall, session: VerifiedSession | null | undefined): Promise<RunOutcome>;
  /** Returns what receivers may see of an error. */
  describe(cause: unknown, call: QueryCall): RPCError;
}

/** The options of a {@link QuerySeries}. */
export interface SeriesOptions {
  readonly call: QueryCall;
  /** The sign-in for which it runs, as for {@link QueryRunner.run}. */
  readonly session: VerifiedSession | null | undefined;
  readonly runner: QueryRunner;
  readonly hub: () => QueryHub;
  /** The tags of the channels. */
  readonly tags: readonly string[];
  readonly slots: RunSlots;
  readonly cache: ValueCache;
  /** Called when a shared run has read the session: it was discarded, and the series ends. */
  readonly onSession: () => void;
  /** Called when its value was dropped, and nobody receives it. */
  readonly onDropped: () => void;
}

/** Is notified when there may be a frame for it. */
export interface SeriesReceiver {
  notify(): void;
}

/** Waits for a run. */
interface Waiter {
  /** The run before those whose value it takes. */
  readonly afterRun: number;
  /** Aborts when its client disconnects. */
  readonly signal: AbortSignal | undefined;
  resolve(value: SeriesValue | "moved"): void;
  reject(cause: unknown): void;
}

/**
 * The runs of one query with its arguments in this process: shared by all receivers, or those of one sign-in. They never overlap. The
 * values are ordered by the begin of their runs, which have numbers. What changes during a run causes one more.
 */
export class QuerySeries implements CacheEntry {
  readonly channels: QueryChannels;
  readonly #options: SeriesOptions;
  readonly #result: SeriesResult;
  readonly #receivers = new Set<SeriesReceiver>();
  #waiters: Waiter[] = [];
  #session: VerifiedSession | null | undefined;
  /** The number of runs that have begun. */
  #begun = 0;
  /** The run that a receiver needs: its value is outdated. */
  #wanted = 0;
  #isBusy = false;
  #giveUpWait: () => void = () => undefined;
  #begunAtMs = Number.NEGATIVE_INFINITY;
  #busRetryAtMs = 0;
  /** Whether messages may have come after the positions of the value that this process has not received. */
  #isUnchecked = false;
  #isChecking = false;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;
  #usedAtMs = performance.now();

  constructor(options: SeriesOptions) {
    this.#options = options;
    this.#session = options.session;
    this.#result = new SeriesResult(options.call.id, options.tags);
    this.channels = new QueryChannels(options.call.channels, options.hub, () => this.advance());
  }

  /** Identifies it in the versions of its values. */
  get name(): string {
    return this.#result.series;
  }

  get begun(): number {
    return this.#begun;
  }

  get value(): SeriesValue | null {
    return this.#result.value;
  }

  get failure(): SeriesFailure | null {
    return this.#result.failure;
  }

  /** Whether somebody receives the values. */
  get isUsed(): boolean {
    return this.#receivers.size > 0;
  }

  /** Since when nobody needs it, by `performance.now`; `null` while somebody does. */
  get idleSinceMs(): number | null {
    return this.isUsed || this.#isBusy || this.#waiters.length > 0 ? null : this.#usedAtMs;
  }

  /** Whether the run that was wanted last has yet to end. */
  isWaitingFor(run: number): boolean {
    return run > Math.max(this.value?.run ?? 0, this.failure?.run ?? 0);
  }

  /** Notifies a receiver of all runs from now on. */
  add(receiver: SeriesReceiver, session: VerifiedSession | null): void {
    this.#receivers.add(receiver);
    if (this.#session !== undefined) this.#session = session; // the newest one of the sign-in
    if (!this.channels.isLive) this.channels.subscribe();
    this.#options.cache.touch(this);
    this.advance();
  }

  remove(receiver: SeriesReceiver): void {
    this.#receivers.delete(receiver);
    this.#usedAtMs = performance.now();
    if (!this.isUsed) this.#options.cache.touch(this);
  }

  /** Makes sure that a run begins after this one. @returns the number of a run that has not ended, and begins after it */
  want(afterRun: number): number {
    this.#wanted = Math.max(this.#wanted, afterRun + 1);
    this.advance();
    return afterRun + 1;
  }

  /**
   * Returns the value of a run that begins from now on, which all that wait for it share; `moved` if the series has ended, because it
   * reads the session. It is never an earlier value: a page that is loaded again shows what has changed without a message, too.
   *
   * @throws what the run has thrown; UnavailableError if the bus does not respond
   */
  async read(signal?: AbortSignal): Promise<SeriesValue | "moved"> {
    if (this.#isClosed) return "moved";
    const afterRun = this.#begun;
    this.#options.cache.touch(this);
    return new Promise((resolve, reject) => {
      this.#waiters.push({ afterRun, signal, resolve, reject });
      this.advance();
    });
  }

  /** Begins a run if one is needed and may begin. Called whenever something has changed. */
  advance(): void {
    if (this.#isClosed) return;
    if (this.isUsed && this.channels.isLive) {
      if (!this.channels.isMarked) this.channels.take(); // from now on, changes are noticed
      if (this.#isUnchecked && !this.#isChecking && !this.#isBusy) void this.#checkValue();
    }
    if (this.#isBusy) return;
    const now = performance.now();
    const beginsAtMs = this.#nextBeginMs();
    clearTimeout(this.#timer);
    if (beginsAtMs === Number.POSITIVE_INFINITY) return;
    if (beginsAtMs <= now) this.#begin();
    else this.#timer = runOutsideRequests(() => setTimeout(() => this.advance(), beginsAtMs - now).unref());
  }

  /** Ends it. What waits for a run is passed on. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.channels.unsubscribe();
    this.#options.cache.delete(this);
    this.#receivers.clear();
    this.#giveUpWait();
    for (const { resolve } of this.#waiters.splice(0)) resolve("moved");
  }

  /** Returns the value that receivers have; `null` if they have none, or one that is about to be replaced. */
  shown(): ShownQuery | null {
    const { runner, call } = this.#options;
    const { value } = this;
    const isCurrent = () =>
      this.isUsed &&
      this.value?.version === value?.version &&
      !this.failure &&
      !this.#isBusy &&
      !this.channels.hasChanged;
    if (!value || value.json === null || !isCurrent()) return null;
    const read = async () => {
      const result = await runner.run(call, this.#session);
      return result.kind === "value" ? result.json : null;
    };
    return { call, json: value.json, isCurrent, read };
  }

  drop(): void {
    this.#result.drop();
    if (this.idleSinceMs !== null) this.#options.onDropped();
  }

  /** Returns the frame with which a client that has a value gets the current one; `null` if the value was dropped: it is computed again. */
  frameFrom(base: string | null): QueryFrameText | null {
    const frame = this.#result.frameFrom(base);
    if (!frame && this.value) this.want(this.value.run);
    return frame;
  }

  /** Returns when the next run is to begin, by `performance.now`: `Infinity` if none is needed. */
  #nextBeginMs(): number {
    if (this.#waiters.some(({ afterRun }) => afterRun >= this.#begun)) return 0;
    if (!this.isUsed) return Number.POSITIVE_INFINITY;
    const perReceiver = this.#receivers.size * INTERVAL_MS_PER_RECEIVER;
    const intervalMs = Math.min(MAX_INTERVAL_MS, Math.max(INTERVAL_MS, perReceiver));
    const earliestMs = Math.max(this.#begunAtMs + intervalMs, this.#busRetryAtMs);
    if (this.channels.hasChanged) return earliestMs;
    // What a client may see is decided anew for each that connects; a run that fails otherwise is not repeated for each of them.
    const { failure } = this;
    if (this.#wanted > this.#begun && (!failure || failure.takesValue)) return earliestMs;
    return failure ? Math.max(earliestMs, failure.retryAtMs) : Number.POSITIVE_INFINITY;
  }

  #begin(): void {
    this.#isBusy = true;
    const { slots, call } = this.#options;
    this.#giveUpWait = slots.acquire(call.id, () => runOutsideRequests(() => void this.#run()));
  }

  async #run(): Promise<void> {
    const { slots, runner, call } = this.#options;
    const isLive = this.channels.isLive;
    let positions: readonly Position[];
    try {
      positions = isLive ? this.channels.take() : await this.channels.read();
    } catch (error) {
      slots.release();
      this.#busFailed(error);
      return;
    }
    if (this.#isClosed || !this.#isNeeded()) {
      slots.release();
      this.#isBusy = false;
      this.advance();
      return;
    }
    this.#begunAtMs = performance.now();
    const run = ++this.#begun;
    const outcome = await runner.run(call, this.#session);
    slots.release();
    if (this.#isClosed) return;
    if (outcome.kind === "session") {
      this.#options.onSession();
      return;
    }
    if (outcome.kind === "value") this.#succeeded(outcome.json, { run, positions, isLive });
    else this.#failed(outcome.cause, run);
    for (const receiver of this.#receivers) receiver.notify();
    if (outcome.kind === "failed" && outcome.unfinished) {
      await Promise.race([outcome.unfinished, pause(UNFINISHED_MS)]);
    }
    this.#isBusy = false;
    this.#usedAtMs = performance.now();
    this.advance();
  }

  /** @param options.isLive whether this process was receiving the messages of the channels when the run began */
  #succeeded(
    json: string,
    { isLive, ...begun }: { readonly run: number; readonly positions: readonly Position[]; readonly isLive: boolean },
  ): void {
    const { run } = begun;
    if (this.#result.succeeded(json, begun, { isWanted: this.#wanted >= run, hasReceivers: this.isUsed })) {
      this.#isUnchecked = !isLive;
      this.#options.cache.set(this, Buffer.byteLength(json));
    }
    const { value } = this;
    for (const { resolve } of this.#takeWaiters(run)) if (value) resolve(value);
  }

  #failed(cause: unknown, run: number): void {
    this.#result.failed(cause, run, this.#options.runner.describe(cause, this.#options.call));
    for (const { reject } of this.#takeWaiters(run)) reject(cause);
  }

  /** Returns whether somebody needs the run that may begin now. Clients could otherwise disconnect, and leave the others a long queue. */
  #isNeeded(): boolean {
    for (const { signal, reject } of this.#waiters) if (signal?.aborted) reject(signal.reason);
    this.#waiters = this.#waiters.filter(({ signal }) => !signal?.aborted);
    return this.isUsed || this.#waiters.length > 0;
  }

  /** Removes those that a run answers, and returns them. */
  #takeWaiters(run: number): readonly Waiter[] {
    const waiters = this.#waiters;
    this.#waiters = waiters.filter(({ afterRun }) => afterRun >= run);
    return waiters.filter(({ afterRun }) => afterRun < run);
  }

  #busFailed(error: unknown): void {
    this.#isBusy = false;
    if (this.#isClosed) return;
    this.#options.hub().busFailed(error);
    this.#busRetryAtMs = performance.now() + BUS_RETRY_MS;
    const reason = error instanceof Error ? error.message : String(error);
    for (const { reject } of this.#waiters.splice(0)) reject(new UnavailableError(`No query can be run: ${reason}`));
    this.advance();
  }

  /** Wants a run if a channel has a message after the positions of the value. */
  async #checkValue(): Promise<void> {
    const { value } = this;
    if (!value) return;
    this.#isChecking = true;
    let hasPassed = false;
    try {
      hasPassed = await this.channels.havePassed(value.positions, { askBus: false });
      if (this.value === value) this.#isUnchecked = false;
    } catch (error) {
      this.#options.hub().busFailed(error);
      await pause(BUS_RETRY_MS);
    }
    this.#isChecking = false;
    if (hasPassed && this.value?.run === value.run) this.want(value.run);
    this.advance();
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
