import { setTimeout as pause } from "node:timers/promises";
import { ConfigError } from "../config/index.ts";
import { isPromise, runOutsideRequests } from "../http/index.ts";
import type { Logger } from "../logging/index.ts";
import { coalesce, waitAtMost } from "../reconnect.ts";
import { ReadFailures } from "./read-failures.ts";
import { type CheckedSession, RevokedSubjects } from "./revoked-subjects.ts";
import type { LogPosition, RevocationStore } from "./store.ts";

/** How a process notifies the others that it has appended an entry. They then read the log. */
export interface RevocationNotifier {
  /** @throws Error if the others may not have been notified */
  notify(): Promise<void>;
  /** Calls `listener` whenever another process has called {@link notify}, or may have done so: after a reconnection. */
  watch(listener: () => void): Promise<() => void>;
}

/** Where the log is stored. */
export interface RevocationSource {
  /** `null` if nothing can be revoked. */
  readonly store: RevocationStore | null;
  /** Absent if no other process uses the store, or if the store itself notifies. */
  readonly notifier?: RevocationNotifier | undefined;
}

/** The options of a {@link RevocationLog}. */
export interface RevocationLogOptions {
  /** Returns the current source. A development server can change it. */
  source(): RevocationSource;
  readonly log: Logger;
  /** Called when entries were read. Must not throw. */
  onRevoked(): void;
}

/** How long a request waits for the first read, so that an unreachable store does not delay pages without a session. */
const REQUEST_TIMEOUT_MS = 1_000;

/** After which time a start that still waits for the first read logs that. */
const NOTICE_MS = 1_000;

/** How long to wait after a failed read, before the first one has succeeded. */
const RETRY_DELAY_MS = 1_000;

/** The interval of reads, for the case that a notification was lost. */
const READ_INTERVAL_MS = 60_000;

/** How often a session that is ahead of this process can cause a read at most. */
const AHEAD_INTERVAL_MS = 1_000;

/**
 * The revocation log as one process knows it. It is read at the start, when another process notifies, after a
 * reconnection, and every 60 seconds. A process that is cut off goes on with what it has read.
 *
 * No clocks are compared: see {@link RevokedSubjects}.
 */
export class RevocationLog {
  readonly #options: RevocationLogOptions;
  readonly #subjects = new RevokedSubjects();
  readonly #failures: ReadFailures;
  #loading: Promise<void> | undefined;
  /** The wait that all requests before the first read share. */
  #requestWait: Promise<void> | undefined;
  #isLoaded = false;
  /** How many callers wait for the first read. */
  #waiting = 0;
  readonly #closing = new AbortController();
  #readForAheadAtMs = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #watched: RevocationSource | undefined;
  #stopWatching: (() => void) | undefined;

  constructor(options: RevocationLogOptions) {
    this.#options = options;
    this.#failures = new ReadFailures(options.log);
  }

  /** Whether the log was read once. Before that, no session can be accepted. */
  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  /** The position that a session that is issued now names; `null` if nothing can be revoked. */
  get position(): LogPosition | null {
    return this.#subjects.position;
  }

  /**
   * Starts to read the log. Resolves when it was read, when this is closed, or after `maxMs`: it is then read in the background.
   * Logs after a second that it waits.
   *
   * @throws ConfigError if it can never be read
   */
  async start(maxMs: number): Promise<void> {
    if (!this.#loading && this.#readFromMemory()) return;
    const sinceMs = performance.now();
    const isLong = maxMs > NOTICE_MS;
    const notice = isLong ? setTimeout(() => this.#failures.waiting({ sinceMs, maxMs }), NOTICE_MS) : undefined;
    try {
      await this.#waitForLoad(maxMs);
    } finally {
      clearTimeout(notice);
    }
    this.#requestWait ??= Promise.resolve(); // requests do not wait again
    if (isLong && !this.#isLoaded) this.#failures.waitedInVain(maxMs);
  }

  /**
   * As {@link start}, for the requests before the first read: the first of them starts it if nobody has, and no request
   * waits longer than a second after that one. Returns nothing if it was read at once, from memory.
   *
   * @throws ConfigError if it can never be read
   */
  startForRequest(): Promise<void> | undefined {
    if (!this.#loading && this.#readFromMemory()) return undefined;
    this.#requestWait ??= runOutsideRequests(() => this.#waitForLoad(REQUEST_TIMEOUT_MS));
    return this.#requestWait;
  }

  /** A number that grows with each entry that this process reads, see {@link wasRevoked}. */
  get order(): number {
    return this.#subjects.order;
  }

  /** Returns the position at an earlier value of {@link order}; the current one if nothing had been read then. */
  positionAt(order: number): LogPosition | null {
    return this.#subjects.positionAt(order);
  }

  /** Returns whether a session was revoked, as far as this process knows. Call it after the first read. */
  isRevoked(session: CheckedSession): boolean {
    return this.wasRevoked(session, Number.POSITIVE_INFINITY);
  }

  /**
   * Returns whether this process knew that a session was revoked when {@link order} had an earlier value. If its user
   * was revoked before that and again since, it may return `false`.
   */
  wasRevoked(session: CheckedSession, order: number): boolean {
    if (session.position !== null && this.#subjects.isAhead(session.position)) this.#readAhead(session.position);
    return this.#subjects.isRevoked(session, order);
  }

  /**
   * Appends a revocation, reads the log, and notifies the other processes.
   *
   * @throws Error if there is no store, if it has not confirmed the entry, or if the others may not have been notified
   */
  async revoke(subject: string): Promise<void> {
    const { store, notifier } = this.#options.source();
    if (!store) throw new Error(NO_STORE);
    await store.append(subject);
    const results = await Promise.allSettled([this.read(), notifier?.notify()]);
    const failure = results.find((result) => result.status === "rejected");
    if (failure) throw new Error(STORED_ONLY, { cause: failure.reason });
  }

  /**
   * Reads the log. The read starts after this call: one that runs already may have missed an entry.
   *
   * @throws Error if the store cannot be read
   */
  readonly read = coalesce<void, void>(() => runOutsideRequests(() => this.#read()));

  /** Stops reading. Sessions are checked with what was read. */
  close(): void {
    this.#closing.abort();
    this.#failures.close();
    clearInterval(this.#timer);
    this.#stopWatching?.();
    this.#stopWatching = undefined;
  }

  /** Reads a log that no other process uses and that is in memory, or none. Returns whether this is one. */
  #readFromMemory(): boolean {
    if (this.#isShared) return false;
    const read = this.#options.source().store?.read(this.position);
    if (isPromise(read)) return false;
    if (read) this.#subjects.apply(read, performance.now());
    this.#isLoaded = true;
    return true;
  }

  async #waitForLoad(maxMs: number): Promise<void> {
    this.#waiting++;
    try {
      this.#loading ??= runOutsideRequests(() => this.#load());
      await waitAtMost(this.#loading, maxMs, undefined);
    } finally {
      this.#waiting--;
    }
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  /**
   * Watches and reads until this has succeeded once. Rejects only if the configuration has to be corrected, and if somebody waits
   * for the start. Later, it may be the server that is corrected while this process runs.
   */
  async #load(): Promise<void> {
    while (!this.#isClosed && !this.#isLoaded) {
      try {
        await this.#update();
      } catch (error) {
        if (error instanceof ConfigError && this.#waiting > 0) throw error;
        if (error instanceof ConfigError) this.#failures.misconfigured(error);
        else this.#logFailure(error);
        const { signal } = this.#closing;
        await pause(RETRY_DELAY_MS, undefined, { ref: false, signal }).catch(() => undefined); // closed: the loop ends
      }
    }
    if (this.#isClosed || !this.#isShared) return;
    this.#timer = setInterval(() => void this.#update().catch((error) => this.#logFailure(error)), READ_INTERVAL_MS);
    this.#timer.unref();
  }

  /** Whether another process can append entries. */
  get #isShared(): boolean {
    const { store, notifier } = this.#options.source();
    return notifier !== undefined || store?.watch !== undefined;
  }

  /** Watches before it reads, so that no entry is between the two. */
  async #update(): Promise<void> {
    const source = this.#options.source();
    if (this.#watched?.store !== source.store) await this.#watch(source);
    await this.read();
  }

  async #watch(source: RevocationSource): Promise<void> {
    this.#stopWatching?.();
    this.#stopWatching = undefined;
    const listener = () => void this.read().catch((error: unknown) => this.#logFailure(error));
    const stops = [source.store?.watch?.(listener), await source.notifier?.watch(listener)];
    const stopAll = () => {
      for (const stop of stops) stop?.();
    };
    if (this.#isClosed) return stopAll();
    this.#stopWatching = stopAll;
    this.#watched = source;
  }

  async #read(): Promise<void> {
    const { store } = this.#options.source();
    if (!store) return;
    const read = await store.read(this.#subjects.position);
    const now = performance.now();
    const hasEntries = this.#subjects.apply(read, now);
    this.#subjects.expire(now);
    this.#isLoaded = true;
    this.#failures.succeeded();
    if (hasEntries) this.#options.onRevoked();
  }

  /** Reads the log because a session names a position that this process has not reached: it has missed an entry. */
  #readAhead(position: LogPosition): void {
    const now = performance.now();
    if (this.#isClosed || now - this.#readForAheadAtMs < AHEAD_INTERVAL_MS) return;
    this.#readForAheadAtMs = now;
    // Outside of the request, whose trace_id a logged failure would have.
    runOutsideRequests(() => {
      this.read().then(
        () => this.#subjects.confirm(position),
        (error: unknown) => this.#logFailure(error),
      );
    });
  }

  #logFailure(err: unknown): void {
    this.#failures.failed(err, this);
  }
}

const NO_STORE =
  "session.revoke: there is no place to store revocations, because neither WEB_BUS_URL nor WEB_DATA_DIR is set. Set " +
  "WEB_DATA_DIR to a folder that survives restarts and that every process of this machine shares, or WEB_BUS_URL to a " +
  "Redis or NATS server.";

const STORED_ONLY =
  "session.revoke: the revocation is stored, but other processes may not have been notified. They read it within 60 " +
  "seconds, or when they can reach the store again. Call session.revoke again to repeat the notification.";
