import { outcomeBytes } from "../../rate-limit/index.ts";
import { memoryRevocations } from "../../revocation/index.ts";
import {
  type Bus,
  createEpoch,
  DEFAULT_HOURS,
  type EntryListener,
  formatBase36,
  OUTCOME_MS,
  type OutcomeStore,
  type Position,
  parseBase36,
  type ReadLimit,
  type ReadResult,
  TopicListeners,
} from "../bus/index.ts";
import { MemoryHistory } from "./history.ts";
import { MemoryPresence } from "./presence.ts";

/** The options of {@link memory}. */
export interface MemoryOptions {
  /** How long messages are stored, in hours. Default: 24.5, half an hour longer than a feed is valid. */
  readonly hours?: number;
  /** The maximum number of messages per channel. Default: 1,000. */
  readonly messages?: number;
  /** The maximum bytes of messages per channel. Default: 4 MiB. */
  readonly bytes?: number;
  /** The maximum bytes of all channels, the overhead of storing them included. Default: 64 MiB. */
  readonly total?: number;
  /** Returns the time in milliseconds. It must be monotonic. */
  readonly now?: () => number;
}

const MIB = 1024 * 1024;

/**
 * Returns a bus in the memory of this process. It needs no server, and its messages are lost when the
 * process ends: every feed then has a gap. With several processes, each has its own bus, and messages do not
 * reach the clients of the others: use Redis or NATS instead.
 *
 * Memory is bounded for any number of messages and channels. The oldest messages are removed, and a reader
 * that has not received them has a gap.
 */
export function memory(options: MemoryOptions = {}): Bus {
  return new MemoryBus(options);
}

/** A position is `<epoch>.<sequence number>`. */
class MemoryBus implements Bus {
  readonly revocations = memoryRevocations();
  readonly presence: MemoryPresence;
  readonly outcomes: MemoryOutcomes;
  readonly #epoch = createEpoch();
  readonly #history: MemoryHistory;
  readonly #listeners = new TopicListeners();
  readonly #now: () => number;
  #isClosed = false;

  constructor({ hours = DEFAULT_HOURS, messages = 1_000, bytes = 4 * MIB, total = 64 * MIB, now }: MemoryOptions) {
    this.#now = now ?? (() => performance.now());
    this.presence = new MemoryPresence(this.#now);
    this.outcomes = new MemoryOutcomes(this.#now);
    this.#history = new MemoryHistory({
      maxAgeMs: hours * 3_600_000,
      maxMessagesPerChannel: messages,
      maxBytesPerChannel: bytes,
      maxTotalBytes: total,
    });
  }

  async publish(channel: string, data: string): Promise<Position> {
    this.#prepare();
    const { after, message } = this.#history.append(channel, this.#now(), (seq) => ({
      position: this.#formatPosition(seq),
      data,
    }));
    const { position } = message;
    // Not a spread: in Node 20, each object of `{ ...message, after }` gets a hidden class of its own, which takes more
    // memory than the entry.
    this.#listeners.deliver(channel, { position, data, after: this.#formatPosition(after) });
    return position;
  }

  async position(channels: readonly string[]): Promise<Position[]> {
    this.#prepare();
    const end = this.#formatPosition(this.#history.lastSeq);
    return channels.map(() => end);
  }

  async read(channel: string, after: Position, limit: ReadLimit): Promise<ReadResult> {
    this.#prepare();
    const seq = this.#parsePosition(after);
    const end = this.#formatPosition(this.#history.lastSeq);
    if (seq === undefined) return { messages: [], gap: true, reset: true, end, more: false };
    const result = this.#history.readAfter(channel, seq, limit);
    if (!result) return { messages: [], gap: true, end, more: false };
    const { messages, lastSeq, more } = result;
    return { messages, gap: false, end: this.#formatPosition(lastSeq), more };
  }

  async readOldest(channel: string, limit: ReadLimit): Promise<ReadResult> {
    this.#prepare(); // before the start is read: messages may expire now
    return this.read(channel, this.#formatPosition(this.#history.startOf(channel)), limit);
  }

  async watch(channel: string, listener: EntryListener): Promise<() => void> {
    this.#prepare();
    const remove = this.#listeners.add(channel, listener);
    this.#history.pin(channel);
    return () => {
      if (remove()) this.#history.unpin(channel);
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#listeners.clear();
    this.presence.close();
  }

  #prepare(): void {
    if (this.#isClosed) throw new Error("The bus is closed.");
    this.#history.expire(this.#now());
  }

  #formatPosition(seq: number): Position {
    return `${this.#epoch}.${formatBase36(seq)}`;
  }

  /** Returns the sequence number of a position, or undefined if it is not a position of this bus. */
  #parsePosition(position: Position): number | undefined {
    const [epoch, seq, ...rest] = position.split(".");
    return epoch === this.#epoch && rest.length === 0 ? parseBase36(seq) : undefined;
  }
}

/** Returns whether a bus is one in memory, which only its process can use. */
export function isMemoryBus(bus: Bus): boolean {
  return bus instanceof MemoryBus;
}

/** The memory of all records, in bytes. Nothing is stored above it: a submission whose record was dropped could run twice. */
export const MAX_STORED_BYTES = 64 * 1024 * 1024;

/** The outcomes of idempotent functions in the memory of this process. */
export class MemoryOutcomes implements OutcomeStore {
  /** The oldest one first. */
  readonly #records = new Map<string, { readonly text: string; readonly expiresAtMs: number }>();
  readonly #now: () => number;
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(now: () => number, maxBytes = MAX_STORED_BYTES) {
    this.#now = now;
    this.#maxBytes = maxBytes;
  }

  /** The memory of all records, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @throws Error if the memory of all records is used up */
  async claim(key: string, text: string): Promise<string | null> {
    this.#expire();
    const record = this.#records.get(key);
    if (record) return record.text;
    this.#set(key, text);
    return null;
  }

  /** @throws Error if the memory of all records is used up: the record then keeps its text */
  async write(key: string, text: string): Promise<void> {
    this.#expire();
    this.#set(key, text);
  }

  async remove(key: string): Promise<void> {
    const record = this.#records.get(key);
    if (record && this.#records.delete(key)) this.#bytes -= outcomeBytes(record.text);
  }

  isHalfFull(): boolean {
    this.#expire();
    return this.#bytes >= this.#maxBytes / 2;
  }

  #set(key: string, text: string): void {
    const earlier = this.#records.get(key);
    const bytes = this.#bytes + outcomeBytes(text) - (earlier ? outcomeBytes(earlier.text) : 0);
    if (bytes > this.#maxBytes) throw fullError(this.#maxBytes);
    this.#records.delete(key); // the order is that of the expiry
    this.#records.set(key, { text, expiresAtMs: this.#now() + OUTCOME_MS });
    this.#bytes = bytes;
  }

  #expire(): void {
    for (const [key, { expiresAtMs }] of this.#records) {
      if (expiresAtMs > this.#now()) return;
      void this.remove(key);
    }
  }
}

function fullError(maxBytes: number): Error {
  return new Error(
    `The outcomes of idempotent functions take ${maxBytes} bytes of memory, which is their maximum, so a submission was refused. ` +
      "They are kept for 10 minutes. Return less from these functions, or set WEB_BUS_URL to keep outcomes in Redis or NATS.",
  );
}
