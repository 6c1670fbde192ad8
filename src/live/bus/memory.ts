import type { ReadResult, Bus, Position, ChannelListener } from "./bus.ts";
import { formatBase36, createEpoch, parseBase36 } from "./epoch.ts";
import { MemoryHistory } from "./memory-history.ts";
import { ChannelNotifier } from "./channel-notifier.ts";

/** What {@link memory} can be told. */
export interface MemoryOptions {
  /** How long messages are kept. Default: 24.5, half an hour longer than a feed lives. */
  readonly hours?: number;
  /** How many messages a channel keeps. Default: 1,000. */
  readonly messages?: number;
  /** How many bytes of messages a channel keeps. Default: 4 MiB. */
  readonly bytes?: number;
  /** How many bytes are kept in all, what it takes to hold them included. Default: 64 MiB. */
  readonly total?: number;
  /** Gives the time in milliseconds, never less than before. */
  readonly now?: () => number;
}

const MIB = 1024 * 1024;

/**
 * Makes a bus of this process: nothing to install, and gone with the process. Where it starts anew,
 * whoever was listening has a gap. With several processes, each has its own: use Redis or NATS.
 *
 * Memory is bounded whatever is published, to however many channels: the oldest is let go, and a
 * reader who would have had to see it has a gap.
 */
export function memory(options: MemoryOptions = {}): Bus {
  return new MemoryBus(options);
}

class MemoryBus implements Bus {
  readonly #epoch = createEpoch();
  readonly #history: MemoryHistory;
  readonly #wakes = new ChannelNotifier();
  readonly #now: () => number;
  #isClosed = false;

  constructor({ hours = 24.5, messages = 1_000, bytes = 4 * MIB, total = 64 * MIB, now }: MemoryOptions) {
    this.#now = now ?? (() => performance.now());
    this.#history = new MemoryHistory({ keepMs: hours * 3_600_000, messages, bytes, total });
  }

  async publish(channel: string, data: string): Promise<Position> {
    this.#begin();
    const { after, message } = this.#history.append(channel, this.#now(), (seq) => ({ position: this.#at(seq), data }));
    this.#wakes.notify(channel, { after: this.#at(after), message });
    return message.position;
  }

  async position(channels: readonly string[]): Promise<Position[]> {
    this.#begin();
    const end = this.#at(this.#history.last);
    return channels.map(() => end);
  }

  async read(channel: string, after: Position, limit: number): Promise<ReadResult> {
    this.#begin();
    const seq = this.#seqOf(after);
    const end = this.#at(this.#history.last);
    if (seq === undefined) return { messages: [], gap: true, reset: true, end, more: false };
    const found = this.#history.readAfter(channel, seq, limit);
    if (!found) return { messages: [], gap: true, end, more: false };
    return { messages: found.messages, gap: false, end: this.#at(found.last), more: found.more };
  }

  async watch(channel: string, wake: ChannelListener): Promise<() => void> {
    this.#begin();
    const stop = this.#wakes.add(channel, wake);
    this.#history.pin(channel);
    return () => {
      if (stop()) this.#history.unpin(channel);
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#wakes.clear();
  }

  #begin(): void {
    if (this.#isClosed) throw new Error("The bus is closed.");
    this.#history.expire(this.#now());
  }

  #at(seq: number): Position {
    return `${this.#epoch}.${formatBase36(seq)}`;
  }

  #seqOf(position: Position): number | undefined {
    const [epoch, seq, ...rest] = position.split(".");
    return epoch === this.#epoch && rest.length === 0 ? parseBase36(seq) : undefined;
  }
}
