import type { Position, ReadLimit, ReadResult } from "../backends/index.ts";
import { runOutsideRequests } from "../http/index.ts";
import type { Logger } from "../logging/index.ts";
import { type GapReason, START } from "../protocol/index.ts";
import { type BusReader, ChannelSubscription, type Subscriber } from "./channel-subscription.ts";
import type { FeedReader } from "./feed-reader.ts";
import { reloadWindowMs } from "./spread.ts";
import { limitResult } from "./write-limit.ts";

/** A request for live updates that is open: an event stream, or a poll that waits. */
export interface LiveConnection {
  /** The readers of its feeds: their channels and positions. */
  readonly readers: readonly FeedReader[];
  /**
   * Called once a second while the connection is open.
   *
   * @param nowMs the time by `performance.now`
   */
  tick(nowMs: number): void;
  /** Ends the response normally, at once. */
  end(): void;
}

/** A loop of the server over the messages of a channel. */
export interface ServerListener extends Subscriber {
  /** Whether it ends when the process stops, as live connections do: it belongs to a request. */
  readonly endsWithDrain: boolean;
  /** Called once a second. */
  tick(): void;
  /** Ends the loop, at once. */
  end(): void;
}

const TICK_MS = 1_000;

/** How long a subscription is kept without subscribers: long enough for a page to reload. */
const IDLE_MS = 15_000;

/** The interval in which buffers drop the messages that every subscriber has received. */
const SWEEP_MS = 10_000;

/** How often a failure of the bus with one message is logged, and how many failures with different messages in that time. */
const LOG_INTERVAL_MS = 60_000;
const MAX_LOGGED_FAILURES = 5;

/**
 * The connections of this process, and its subscriptions to the channels of one bus: one for each channel, for any number
 * of connections. It ticks the connections, and ends the subscriptions that are not used.
 */
export class SubscriptionHub {
  readonly counts: LiveCounts;
  readonly #bus: BusReader;
  readonly #log: Logger;
  readonly #subscriptions = new Map<string, ChannelSubscription>();
  readonly #connections = new Set<LiveConnection>();
  /** Apart from the connections, which are those of clients. */
  readonly #listeners = new Set<ServerListener>();
  /** Reads in progress by what they read: after the bus was unreachable, many connections read from one position. */
  readonly #pendingReads = new Map<string, Promise<ReadResult>>();
  #timer: NodeJS.Timeout | undefined;
  #sweptAtMs = 0;
  /** By when the connections end, by `performance.now`; `null` while they stay open. */
  #endsAtMs: number | null = null;
  #isClosed = false;
  /** The messages of the failures that were logged since then, by `performance.now`. */
  readonly #loggedFailures = new Set<string>();
  #loggedSinceMs = 0;

  constructor(bus: BusReader, log: Logger, counts = new LiveCounts()) {
    this.counts = counts;
    this.#bus = bus;
    this.#log = log;
  }

  /** The number of open connections. */
  get connectionCount(): number {
    return this.#connections.size;
  }

  /** The open connections. */
  get connections(): readonly LiveConnection[] {
    return [...this.#connections];
  }

  /** Adds a connection. It is ticked once a second until it is removed. */
  addConnection(connection: LiveConnection): void {
    this.#connections.add(connection);
    if (this.#endsAtMs !== null) this.#endWithin(connection, this.#endsAtMs);
    this.#startTicks();
  }

  removeConnection(connection: LiveConnection): void {
    this.#connections.delete(connection);
  }

  /** Adds a loop of the server. It is ticked once a second until it is removed. */
  addListener(listener: ServerListener): void {
    if (this.#isClosed) {
      listener.end();
      return;
    }
    this.#listeners.add(listener);
    if (this.#endsAtMs !== null && listener.endsWithDrain) this.#endWithin(listener, this.#endsAtMs);
    this.#startTicks();
  }

  removeListener(listener: ServerListener): void {
    this.#listeners.delete(listener);
  }

  /** Whether {@link close} was called: the application is closed. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  #startTicks(): void {
    // Outside requests: otherwise the timer would keep the context of the first request alive.
    this.#timer ??= runOutsideRequests(() => setInterval(() => this.#tick(), TICK_MS).unref());
  }

  /** Returns the subscription to a channel, and notifies the subscriber of its messages from now on. */
  subscribe(channel: string, subscriber: Subscriber): ChannelSubscription {
    const existing = this.#subscriptions.get(channel);
    const subscription = existing ?? this.#createSubscription(channel);
    subscription.subscribers.add(subscriber);
    subscription.idleSinceMs = null;
    this.#startTicks();
    return subscription;
  }

  #createSubscription(channel: string): ChannelSubscription {
    const onBusFailure = (error: unknown) => this.busFailed(error);
    const subscription = new ChannelSubscription(channel, { bus: this.#bus, onBusFailure });
    this.#subscriptions.set(channel, subscription);
    runOutsideRequests(() => void subscription.start());
    return subscription;
  }

  /** Stops notifying a subscriber of a channel's messages. */
  unsubscribe(channel: string, subscriber: Subscriber): void {
    const subscription = this.#subscriptions.get(channel);
    subscription?.subscribers.delete(subscriber);
    if (subscription?.subscribers.size === 0) subscription.idleSinceMs = performance.now();
  }

  /** Returns the subscription to a channel, if this process has one. */
  getSubscription(channel: string): ChannelSubscription | null {
    return this.#subscriptions.get(channel) ?? null;
  }

  /**
   * Counts a gap, and returns in which time its page is to reload: in milliseconds, or undefined for the shortest time. All
   * connections lose the history of a bus together, those of a busy channel together what it no longer stores, and each
   * feed expires by itself.
   */
  countGap(channel: string, reason: GapReason): number | undefined {
    this.counts.gaps[reason]++;
    if (reason === "expired") return reloadWindowMs(1);
    const ofChannel = this.#subscriptions.get(channel)?.subscribers.size ?? 1;
    return reloadWindowMs(reason === "reset" ? this.connectionCount : ofChannel);
  }

  /** Returns the current end of a channel. */
  async position(channel: string): Promise<Position> {
    const [position = START] = await this.positions([channel]);
    return position;
  }

  /** Returns the current ends of channels, in one operation of the bus. */
  async positions(channels: readonly string[]): Promise<readonly Position[]> {
    const positions = await this.#bus.position(channels);
    const missing = channels.find((_, i) => positions[i] === undefined);
    if (missing !== undefined) throw new Error(`The bus returned no position of ${missing}.`);
    return positions;
  }

  /** Reads the bus. Equal reads at the same time share one. */
  read(channel: string, after: Position, limit: ReadLimit): Promise<ReadResult> {
    const key = `${limit.messages} ${limit.bytes} ${after} ${channel}`;
    const pending = this.#pendingReads.get(key);
    if (pending) return pending;
    const read = this.#bus
      .read(channel, after, limit)
      .then((result) => limitResult(result, limit))
      .finally(() => this.#pendingReads.delete(key));
    this.#pendingReads.set(key, read);
    return read;
  }

  /** Logs why an operation of the bus failed: at most once a minute for each reason. */
  busFailed(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    const now = performance.now();
    if (now - this.#loggedSinceMs >= LOG_INTERVAL_MS) {
      this.#loggedSinceMs = now;
      this.#loggedFailures.clear();
    }
    if (this.#loggedFailures.has(reason) || this.#loggedFailures.size >= MAX_LOGGED_FAILURES) return;
    this.#loggedFailures.add(reason);
    this.#log.warn({ err: error }, `Live updates are delayed, because the bus could not be read; retrying. ${reason}`);
  }

  /**
   * Ends all connections and the loops of requests by a time, also those that are added before it, each at a random moment:
   * their clients reconnect, and must not do so all at once.
   *
   * @param atMs the time by `performance.now`
   * @see docs/protocol.md 12.4
   */
  endBy(atMs: number): void {
    this.#endsAtMs = atMs;
    if (atMs <= performance.now()) this.end();
    else for (const each of [...this.#connections, ...this.#requestListeners]) this.#endWithin(each, atMs);
  }

  get #requestListeners(): ServerListener[] {
    return [...this.#listeners].filter(({ endsWithDrain }) => endsWithDrain);
  }

  #endWithin(each: LiveConnection | ServerListener, endsAtMs: number): void {
    const delayMs = Math.random() * Math.max(0, endsAtMs - performance.now());
    const end = () => {
      if ("endsWithDrain" in each ? this.#listeners.has(each) : this.#connections.has(each)) each.end();
    };
    // Outside requests: otherwise the timer would keep the context of the request alive.
    runOutsideRequests(() => setTimeout(end, delayMs));
  }

  /** Ends all connections and the loops of requests at once. */
  end(): void {
    for (const each of [...this.#connections, ...this.#requestListeners]) each.end();
  }

  /** Ends all connections, loops and subscriptions. The bus stays open. */
  close(): void {
    this.#isClosed = true;
    this.end();
    for (const listener of [...this.#listeners]) listener.end();
    clearInterval(this.#timer);
    for (const subscription of this.#subscriptions.values()) subscription.close();
    this.#subscriptions.clear();
  }

  #tick(): void {
    const now = performance.now();
    for (const connection of this.#connections) connection.tick(now);
    for (const listener of this.#listeners) listener.tick();
    const isSweepDue = now - this.#sweptAtMs >= SWEEP_MS;
    if (isSweepDue) this.#sweptAtMs = now;
    for (const subscription of this.#subscriptions.values()) {
      const { idleSinceMs } = subscription;
      if (idleSinceMs !== null && now - idleSinceMs >= IDLE_MS) this.#removeSubscription(subscription);
      else if (subscription.isBehind) void subscription.catchUp();
      if (isSweepDue) subscription.buffer?.sweep();
    }
    if (this.#subscriptions.size + this.#connections.size + this.#listeners.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #removeSubscription(subscription: ChannelSubscription): void {
    subscription.close();
    this.#subscriptions.delete(subscription.channel);
  }
}

/** What the live updates of one application have done since its start, for its metrics. */
export class LiveCounts {
  published = 0;
  /** Messages that the bus has refused, or not confirmed in time. */
  publishFailures = 0;
  delivered = 0;
  readonly gaps: Record<GapReason, number> = { trimmed: 0, reset: 0, expired: 0 };
}
