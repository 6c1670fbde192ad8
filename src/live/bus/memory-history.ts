import type { Message } from "./bus.ts";
import { LinkedList } from "./linked-list.ts";

/** How much is kept, and how long. */
export interface HistoryLimits {
  readonly keepMs: number;
  /** Messages of one channel. */
  readonly messages: number;
  /** Bytes of one channel's messages. */
  readonly bytes: number;
  /** Bytes in all, what it takes to hold them included. */
  readonly total: number;
}

/** A message as it is held. */
interface Entry {
  readonly seq: number;
  readonly atMs: number;
  readonly size: number;
  readonly message: Message;
  readonly channel: Channel;
  older: Entry | undefined;
  newer: Entry | undefined;
}

interface Channel {
  readonly name: string;
  /** Oldest first. */
  readonly entries: Entry[];
  size: number;
  /** The number of the last message that is no longer held, or may not have been. */
  lost: number;
  pins: number;
}

/** What it takes to hold a message, and a channel, beside their text: measured, and rounded up. */
const ENTRY_BYTES = 250;
const CHANNEL_BYTES = 400;

/**
 * Holds the last messages of every channel within its bounds. All channels are numbered through, so
 * that a channel of which nothing is held needs no memory: it has lost nothing since the number up
 * to which channels were forgotten.
 */
export class MemoryHistory {
  readonly #bounds: HistoryLimits;
  readonly #channels = new Map<string, Channel>();
  readonly #timeline = new LinkedList<Entry>();
  #bytes = 0;
  #last = 0;
  /** No channel that is not held has lost a message after this one. */
  #forgotten = 0;

  constructor(bounds: HistoryLimits) {
    this.#bounds = bounds;
  }

  /** The number of the last message of any channel. */
  get last(): number {
    return this.#last;
  }

  /** What is held, in bytes, with what it takes to hold it. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Adds a message, and lets go of what is then too much: of its channel's oldest first, of the
   * oldest of all next.
   *
   * @param make makes the message of its number
   * @returns the number before it in its channel, from which on it is the only one
   */
  append(
    name: string,
    atMs: number,
    make: (seq: number) => Message,
  ): { readonly after: number; readonly message: Message } {
    const channel = this.#hold(name);
    const after = channel.entries.at(-1)?.seq ?? channel.lost;
    const seq = ++this.#last;
    const message = make(seq);
    const size = sizeOf(message.data);
    const entry: Entry = { seq, atMs, size, message, channel, older: undefined, newer: undefined };
    channel.entries.push(entry);
    channel.size += size;
    this.#bytes += size + ENTRY_BYTES;
    this.#timeline.add(entry);
    this.#bound(channel);
    return { after, message };
  }

  /**
   * Gives what a channel holds after a number, oldest first.
   *
   * @returns undefined when something after that number may be lost
   */
  readAfter(name: string, seq: number, limit: number): { messages: Message[]; more: boolean; last: number } | undefined {
    const channel = this.#channels.get(name);
    if (seq > this.#last || seq < (channel?.lost ?? this.#forgotten)) return undefined;
    if (!channel) return { messages: [], more: false, last: this.#last };
    const from = firstAfter(channel.entries, seq);
    const entries = channel.entries.slice(from, from + limit);
    const more = from + limit < channel.entries.length;
    // With no more in the channel, the reader may go on from the end of all channels.
    const last = more ? (entries.at(-1)?.seq ?? seq) : this.#last;
    return { messages: entries.map(({ message }) => message), more, last };
  }

  /** Lets go of what is older than it may be. */
  expire(nowMs: number): void {
    const since = nowMs - this.#bounds.keepMs;
    for (let entry = this.#timeline.oldest; entry && entry.atMs < since; entry = this.#timeline.oldest) {
      this.#dropOldestOf(entry.channel);
    }
  }

  /**
   * Keeps a channel's own count of what it lost, until it is unpinned: other channels that are
   * forgotten raise no alarm in it.
   */
  pin(name: string): void {
    this.#hold(name).pins++;
  }

  unpin(name: string): void {
    const channel = this.#channels.get(name);
    if (!channel) return;
    channel.pins--;
    this.#forget(channel);
  }

  #hold(name: string): Channel {
    const held = this.#channels.get(name);
    if (held) return held;
    const channel: Channel = { name, entries: [], size: 0, lost: this.#forgotten, pins: 0 };
    this.#channels.set(name, channel);
    this.#bytes += channelBytes(name);
    return channel;
  }

  #bound(channel: Channel): void {
    const { messages, bytes, total } = this.#bounds;
    while (channel.entries.length > messages || channel.size > bytes) this.#dropOldestOf(channel);
    while (this.#bytes > total && this.#timeline.oldest) this.#dropOldestOf(this.#timeline.oldest.channel);
  }

  #dropOldestOf(channel: Channel): void {
    const entry = channel.entries.shift();
    if (!entry) return;
    this.#timeline.remove(entry);
    channel.size -= entry.size;
    channel.lost = entry.seq;
    this.#bytes -= entry.size + ENTRY_BYTES;
    this.#forget(channel);
  }

  #forget(channel: Channel): void {
    if (channel.entries.length > 0 || channel.pins > 0) return;
    this.#channels.delete(channel.name);
    this.#bytes -= channelBytes(channel.name);
    this.#forgotten = Math.max(this.#forgotten, channel.lost);
  }
}

/** Finds, by halving, the first entry after a number. */
function firstAfter(entries: readonly Entry[], seq: number): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((entries[middle]?.seq ?? Number.POSITIVE_INFINITY) <= seq) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What a text takes in memory: one byte a character where all are ASCII, else counted as two. */
function sizeOf(text: string): number {
  return Buffer.byteLength(text) === text.length ? text.length : text.length * 2;
}

function channelBytes(name: string): number {
  return CHANNEL_BYTES + sizeOf(name);
}
