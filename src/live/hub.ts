import { runOutsideRequests } from "../http/index.ts";
import type { Log } from "../logging/index.ts";
import type { Batch, Bus, Position } from "./bus/index.ts";
import { type Listener, WatchedChannel, type Watcher } from "./watched.ts";

/** One whom the hub looks after: once a second, and when the process is about to stop. */
export interface Guest {
  /** @param nowMs of {@link performance.now} */
  tick(nowMs: number): void;
  /** Ends in order, now. */
  end(): void;
}

const TICK_MS = 1_000;

/** How long a channel is watched on when nobody listens any more: a page that reloads is back by then. */
const IDLE_MS = 15_000;

/** How often tails forget what everybody has. */
const SWEEP_MS = 10_000;

/** How often the log is told that the bus fails. */
const TELL_MS = 60_000;

/**
 * Stands between the bus and the connections of a process: watches each channel once, and wakes those
 * who listen, all that came in one turn of the event loop at once.
 */
export class Hub implements Watcher {
  readonly #bus: Bus;
  readonly #log: Log;
  readonly #channels = new Map<string, WatchedChannel>();
  readonly #guests = new Set<Guest>();
  readonly #changed = new Set<WatchedChannel>();
  /** Reads under way, by what is read: many stand at one place when a bus is back. */
  readonly #reads = new Map<string, Promise<Batch>>();
  #timer: NodeJS.Timeout | undefined;
  #sweptAt = 0;
  #toldAt = Number.NEGATIVE_INFINITY;

  constructor(bus: Bus, log: Log) {
    this.#bus = bus;
    this.#log = log;
  }

  /** How many it looks after. */
  get size(): number {
    return this.#guests.size;
  }

  /** Takes a guest in, and tells it the time until it leaves. */
  admit(guest: Guest): void {
    this.#guests.add(guest);
    // Else the timer would hold on to the request that happened to be the first.
    this.#timer ??= runOutsideRequests(() => setInterval(() => this.#tick(), TICK_MS).unref());
  }

  /** Lets a guest go. */
  release(guest: Guest): void {
    this.#guests.delete(guest);
  }

  /** Begins to wake a listener when there may be something new in a channel. */
  listen(name: string, listener: Listener): WatchedChannel {
    const known = this.#channels.get(name);
    const channel = known ?? new WatchedChannel(name, this.#bus, this);
    channel.listeners.add(listener);
    channel.idleSince = null;
    if (!known) {
      this.#channels.set(name, channel);
      runOutsideRequests(() => void channel.open());
    }
    return channel;
  }

  /** Wakes a listener no more. */
  ignore(name: string, listener: Listener): void {
    const channel = this.#channels.get(name);
    channel?.listeners.delete(listener);
    if (channel?.listeners.size === 0) channel.idleSince = performance.now();
  }

  /** Gives a channel that is watched already, if it is. */
  watched(name: string): WatchedChannel | null {
    return this.#channels.get(name) ?? null;
  }

  /** Reads the bus; many who ask for the same at once ask it once. */
  read(name: string, after: Position, limit: number): Promise<Batch> {
    const key = `${limit} ${after} ${name}`;
    const known = this.#reads.get(key);
    if (known) return known;
    const reading = this.#bus.read(name, after, limit).finally(() => this.#reads.delete(key));
    this.#reads.set(key, reading);
    return reading;
  }

  changed(channel: WatchedChannel): void {
    // In no request: what is written to one page has nothing to do with the call that published it.
    if (this.#changed.size === 0) runOutsideRequests(() => setImmediate(() => this.#wake()));
    this.#changed.add(channel);
  }

  failed(error: unknown): void {
    const now = performance.now();
    if (now - this.#toldAt < TELL_MS) return;
    this.#toldAt = now;
    this.#log.warn({ err: error }, "Live updates wait for the bus; they go on when it is back");
  }

  /** Sends everybody away, so that browsers go to another process. */
  end(): void {
    for (const guest of [...this.#guests]) guest.end();
  }

  /** Ends what it began itself. */
  close(): void {
    this.end();
    clearInterval(this.#timer);
    for (const channel of this.#channels.values()) channel.close();
    this.#channels.clear();
  }

  #wake(): void {
    const changed = [...this.#changed];
    this.#changed.clear();
    for (const { listeners } of changed) for (const listener of listeners) listener.wake();
  }

  #tick(): void {
    const now = performance.now();
    for (const guest of this.#guests) guest.tick(now);
    const isSweep = now - this.#sweptAt >= SWEEP_MS;
    if (isSweep) this.#sweptAt = now;
    for (const channel of this.#channels.values()) {
      if (channel.idleSince !== null && now - channel.idleSince >= IDLE_MS) this.#forget(channel);
      else if (channel.isBehind) void channel.refresh();
      if (isSweep) channel.tail?.sweep();
    }
    if (this.#channels.size > 0 || this.#guests.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #forget(channel: WatchedChannel): void {
    channel.close();
    this.#channels.delete(channel.name);
  }
}
