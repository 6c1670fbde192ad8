import type { Bus, Fresh, Message, Position } from "./bus/index.ts";
import { Tail } from "./tail.ts";

/** How many messages are read from the bus at once. */
export const READ_LIMIT = 256;

/** One who listens to a channel: told that there may be more, at most once a turn of the event loop. */
export interface Listener {
  wake(): void;
}

/** What a watched channel tells the hub. */
export interface Watcher {
  /** There is something new: its listeners are to be woken. */
  changed(channel: WatchedChannel): void;
  /** The bus failed; the channel will be asked again. */
  failed(error: unknown): void;
}

/**
 * A channel that somebody in this process listens to: watched on the bus once, whoever many they are,
 * with its tail. While the bus is away it stays as it was, and catches up afterwards.
 */
export class WatchedChannel {
  readonly name: string;
  readonly listeners = new Set<Listener>();
  /** Since when nobody has listened, in milliseconds; `null` while somebody does. */
  idleSince: number | null = null;

  readonly #bus: Bus;
  readonly #watcher: Watcher;
  #tail: Tail | null = null;
  #stop: (() => void) | null = null;
  #isClosed = false;
  #isReading = false;
  /** Whether there may be more than what is being read. */
  #isStale = false;
  #opening: Promise<void> | null = null;

  constructor(name: string, bus: Bus, watcher: Watcher) {
    this.name = name;
    this.#bus = bus;
    this.#watcher = watcher;
  }

  /** What has been seen of it; `null` until the bus has said where it stands. */
  get tail(): Tail | null {
    return this.#tail;
  }

  /**
   * Begins to watch, or tries again what failed. Never rejects.
   *
   * The position is taken once the watch holds: what is published from then on wakes us, and what was
   * published before is no longer news.
   */
  open(): Promise<void> {
    this.#opening ??= this.#open().finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  async #open(): Promise<void> {
    try {
      if (!this.#stop) {
        const stop = await this.#bus.watch(this.name, (fresh) => this.#wake(fresh));
        if (this.#isClosed) return stop();
        this.#stop = stop;
      }
      if (!this.#tail) {
        const [end] = await this.#bus.position([this.name]);
        if (end === undefined) throw new Error("The bus gave no position.");
        this.#tail ??= new Tail(this.name, end);
        this.#watcher.changed(this);
        if (this.#isStale) void this.refresh();
      }
    } catch (error) {
      if (!this.#isClosed) this.#watcher.failed(error);
    }
  }

  /** Reads on, if anything was missed or failed. Never rejects. */
  async refresh(): Promise<void> {
    this.#isStale = true;
    const tail = this.#tail;
    if (!tail) return this.open();
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      while (this.#isStale && !this.#isClosed) {
        this.#isStale = false;
        await this.#readOn(tail);
      }
    } catch (error) {
      this.#isStale = true;
      if (!this.#isClosed) this.#watcher.failed(error);
    } finally {
      this.#isReading = false;
    }
  }

  /** Whether something is still to be asked of the bus: it failed, or never answered. */
  get isBehind(): boolean {
    return this.#tail === null || (this.#isStale && !this.#isReading);
  }

  close(): void {
    this.#isClosed = true;
    this.#stop?.();
  }

  async #readOn(tail: Tail): Promise<void> {
    for (let more = true; more && !this.#isClosed; ) {
      const batch = await this.#bus.read(this.name, tail.end, READ_LIMIT);
      if (batch.gap) tail.restart(batch.end);
      else tail.append(batch.messages, batch.end);
      if (batch.gap || batch.messages.length > 0) this.#watcher.changed(this);
      more = batch.more;
    }
  }

  #wake(fresh?: Fresh): void {
    if (this.#isClosed) return;
    const tail = this.#tail;
    // What is being read now may hold the same messages.
    const news = tail && fresh && !this.#isReading ? newsOf(fresh, tail.end) : null;
    const last = news?.at(-1);
    if (!tail || !news || !last) return void this.refresh();
    tail.append(news, last.position);
    this.#watcher.changed(this);
  }
}

/** Gives those of the messages that come after a position; `null` where that cannot be told. */
function newsOf({ after, messages }: Fresh, end: Position): readonly Message[] | null {
  if (after === end) return messages;
  const isComparable = [after, ...messages.map(({ position }) => position)].every(
    ({ length }) => length === end.length,
  );
  return isComparable && after < end ? messages.filter(({ position }) => position > end) : null;
}
