import { endOfRead, type Message, type ReadLimit } from "../bus/index.ts";

/** How many messages a {@link MemoryHistory} stores, and for how long. */
export interface HistoryLimits {
  readonly maxAgeMs: number;
  readonly maxMessagesPerChannel: number;
  readonly maxBytesPerChannel: number;
  /** The bytes of all channels, the overhead of storing them included. */
  readonly maxTotalBytes: number;
}

/** A stored message of a channel. */
interface StoredMessage {
  readonly seq: number;
  readonly storedAtMs: number;
  readonly size: number;
  readonly message: Message;
  readonly channel: ChannelHistory;
  previous: StoredMessage | undefined;
  next: StoredMessage | undefined;
}

interface ChannelHistory {
  readonly name: string;
  /** Oldest first. */
  readonly entries: StoredMessage[];
  size: number;
  /** The sequence number up to which messages of this channel may have been removed. */
  trimmedSeq: number;
  pins: number;
}

/** The memory of a message and of a channel beside their text, in bytes: measured, and rounded up. */
const ENTRY_OVERHEAD_BYTES = 250;
const CHANNEL_OVERHEAD_BYTES = 400;

/**
 * Stores the last messages of every channel within limits. All channels share one sequence of numbers, so
 * that a channel without stored messages needs no memory: one number for all such channels records up to where
 * messages may have been removed.
 */
export class MemoryHistory {
  readonly #limits: HistoryLimits;
  readonly #channels = new Map<string, ChannelHistory>();
  /** The messages of all channels, oldest first. */
  readonly #messages = new LinkedList<StoredMessage>();
  #bytes = 0;
  #lastSeq = 0;
  /** No channel that is missing in `#channels` has lost a message after this number. */
  #trimmedSeqOfRemovedChannels = 0;

  constructor(limits: HistoryLimits) {
    this.#limits = limits;
  }

  /** The sequence number of the last message of any channel. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** The memory in use, in bytes, overhead included. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Appends a message. If a limit is exceeded then, removes the oldest messages: first those of the channel
   * for its own limits, then those of all channels for the total.
   *
   * @param createMessage creates the message from its sequence number
   * @returns the message, and a number after which it is the first message of its channel
   */
  append(
    name: string,
    nowMs: number,
    createMessage: (seq: number) => Message,
  ): { readonly after: number; readonly message: Message } {
    const channel = this.#getOrCreate(name);
    const after = channel.entries.at(-1)?.seq ?? channel.trimmedSeq;
    const seq = ++this.#lastSeq;
    const message = createMessage(seq);
    const size = sizeOf(message.data);
    const entry: StoredMessage = {
      seq,
      storedAtMs: nowMs,
      size,
      message,
      channel,
      previous: undefined,
      next: undefined,
    };
    channel.entries.push(entry);
    channel.size += size;
    this.#bytes += size + ENTRY_OVERHEAD_BYTES;
    this.#messages.append(entry);
    this.#enforceLimits(channel);
    return { after, message };
  }

  /**
   * Returns the messages of a channel after a sequence number, oldest first.
   *
   * @returns undefined if a message after that number may have been removed
   */
  readAfter(
    name: string,
    seq: number,
    limit: ReadLimit,
  ): { messages: Message[]; more: boolean; lastSeq: number } | undefined {
    const channel = this.#channels.get(name);
    if (seq > this.#lastSeq || seq < this.startOf(name)) return undefined;
    if (!channel) return { messages: [], more: false, lastSeq: this.#lastSeq };
    const start = findFirstAfter(channel.entries, seq);
    const entries = channel.entries.slice(start, endOfRead(channel.entries, start, { limit, dataOf }));
    const more = start + entries.length < channel.entries.length;
    // If the channel has no more messages, the reader can continue from the end of all channels.
    const lastSeq = more ? (entries.at(-1)?.seq ?? seq) : this.#lastSeq;
    return { messages: entries.map(({ message }) => message), more, lastSeq };
  }

  /** Returns the earliest sequence number after which all messages of a channel are stored. */
  startOf(name: string): number {
    return this.#channels.get(name)?.trimmedSeq ?? this.#trimmedSeqOfRemovedChannels;
  }

  /** Removes the messages that have reached the maximum age. */
  expire(nowMs: number): void {
    const expiredBefore = nowMs - this.#limits.maxAgeMs;
    for (let entry = this.#messages.first; entry && entry.storedAtMs < expiredBefore; entry = this.#messages.first) {
      this.#removeOldestOf(entry.channel);
    }
  }

  /**
   * Keeps the state of a channel while it has no messages, until {@link unpin} is called. Then removing
   * messages of other channels cannot cause a gap in this one.
   */
  pin(name: string): void {
    this.#getOrCreate(name).pins++;
  }

  unpin(name: string): void {
    const channel = this.#channels.get(name);
    if (!channel) return;
    channel.pins--;
    this.#removeIfUnused(channel);
  }

  #getOrCreate(name: string): ChannelHistory {
    const existing = this.#channels.get(name);
    if (existing) return existing;
    const trimmedSeq = this.#trimmedSeqOfRemovedChannels;
    const channel: ChannelHistory = { name, entries: [], size: 0, trimmedSeq, pins: 0 };
    this.#channels.set(name, channel);
    this.#bytes += channelBytes(name);
    return channel;
  }

  #enforceLimits(channel: ChannelHistory): void {
    const { maxMessagesPerChannel, maxBytesPerChannel, maxTotalBytes } = this.#limits;
    while (channel.entries.length > maxMessagesPerChannel || channel.size > maxBytesPerChannel)
      this.#removeOldestOf(channel);
    while (this.#bytes > maxTotalBytes && this.#messages.first) this.#removeOldestOf(this.#messages.first.channel);
  }

  #removeOldestOf(channel: ChannelHistory): void {
    const entry = channel.entries.shift();
    if (!entry) return;
    this.#messages.remove(entry);
    channel.size -= entry.size;
    channel.trimmedSeq = entry.seq;
    this.#bytes -= entry.size + ENTRY_OVERHEAD_BYTES;
    this.#removeIfUnused(channel);
  }

  #removeIfUnused(channel: ChannelHistory): void {
    if (channel.entries.length > 0 || channel.pins > 0) return;
    this.#channels.delete(channel.name);
    this.#bytes -= channelBytes(channel.name);
    this.#trimmedSeqOfRemovedChannels = Math.max(this.#trimmedSeqOfRemovedChannels, channel.trimmedSeq);
  }
}

/** Returns the index of the first entry after a sequence number, by binary search. */
function findFirstAfter(entries: readonly StoredMessage[], seq: number): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((entries[middle]?.seq ?? Number.POSITIVE_INFINITY) <= seq) low = middle + 1;
    else high = middle;
  }
  return low;
}

const dataOf = ({ message }: StoredMessage) => message.data;

/** Returns the memory of a text, in bytes: one byte per character if all are ASCII, otherwise two. */
function sizeOf(text: string): number {
  return Buffer.byteLength(text) === text.length ? text.length : text.length * 2;
}

function channelBytes(name: string): number {
  return CHANNEL_OVERHEAD_BYTES + sizeOf(name);
}

/** An item of a {@link LinkedList}. Only the list writes these fields. */
interface ListNode<T> {
  previous: T | undefined;
  next: T | undefined;
}

/** A doubly linked list: items are appended at the end, and any item is removed in constant time. */
class LinkedList<T extends ListNode<T>> {
  #first: T | undefined;
  #last: T | undefined;

  get first(): T | undefined {
    return this.#first;
  }

  /** Appends an item that is in no list. */
  append(item: T): void {
    item.previous = this.#last;
    if (this.#last) this.#last.next = item;
    this.#last = item;
    this.#first ??= item;
  }

  /** Removes an item of this list. */
  remove(item: T): void {
    const { previous, next } = item;
    if (previous) previous.next = next;
    else this.#first = next;
    if (next) next.previous = previous;
    else this.#last = previous;
    item.previous = undefined;
    item.next = undefined;
  }
}
