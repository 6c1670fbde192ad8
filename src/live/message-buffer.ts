import type { Entry, Message, Position, ReadLimit } from "../backends/index.ts";
import { isLater, MAX_FEEDS } from "../protocol/index.ts";
import { shortId } from "./feed.ts";
import { limitMessages, writeLimit } from "./write-limit.ts";

/** Messages of one write, encoded once for all event streams in which they have the same ids, from this message on. */
export interface EncodedChunk {
  readonly bytes: Uint8Array;
  /** The number of its messages. */
  readonly count: number;
  /** The index of the message after the chunk. */
  readonly nextIndex: number;
  /** The position of the last message. */
  readonly position: Position;
}

/** The maximum size of one buffer in bytes. */
const MAX_BUFFER_BYTES = 256 * 1024;

/** The maximum number of encoded chunks. Most readers are at the same message, and the others near it. */
const MAX_CHUNKS = 4;

/**
 * How many ends a buffer remembers. A client learns them with pings, every 20 s, and reconnects within seconds: from one of them, no
 * read of the bus is needed.
 */
const MAX_QUIET_ENDS = 8;

/** The limit of a chunk: its ids have one position each. */
const CHUNK_LIMIT = writeLimit(1);

/** Encodes a message as an event. @see docs/protocol.md 10.5 */
export function encodeEvent(id: string, channel: string, data: string): string {
  return `id: ${id}\ndata: ${channel}\ndata: ${data}\n\n`;
}

/**
 * The most recent messages of a channel, without omission.
 *
 * Each message has an index, counted from the first message of the buffer's lifetime. An index is never used twice. A
 * reader whose next index has been dropped reads the bus instead, so any message can be dropped at any time.
 */
export class MessageBuffer {
  readonly channel: string;
  #messages: Message[] = [];
  /** The index of the first message of `#messages`. */
  #firstIndex = 0;
  /** The position before the first message. */
  #start: Position;
  #end: Position;
  /** The ends since the last message, oldest first: a client that resumes from one of them misses nothing. */
  readonly #quietEnds: Position[] = [];
  /** The position of the last message that was appended, also if it was dropped; `null` before the first. */
  #lastMessage: Position | null = null;
  #bytes = 0;
  /** The end index at the last sweep. */
  #sweptIndex = 0;
  /** Encoded chunks by {@link chunkKey}, oldest first. Cleared when messages are added or dropped. */
  readonly #chunks = new Map<number, EncodedChunk>();

  /** @param end the current end of the channel's history */
  constructor(channel: string, end: Position) {
    this.channel = channel;
    this.#start = end;
    this.#end = end;
  }

  /** The index of the next message that will be appended. */
  get endIndex(): number {
    return this.#firstIndex + this.#messages.length;
  }

  /** The position up to which the channel has been read. */
  get end(): Position {
    return this.#end;
  }

  /**
   * Returns whether an entry is the first message after the end.
   *
   * If it is not later than the end, or if the last message is between it and the position before it, it belongs to
   * another history: that of the buffer was lost, or restored to an earlier state.
   */
  isContinuedBy({ position, after }: Entry): boolean {
    if (!isLater(position, this.#end)) return false;
    if (after === undefined) return true;
    return !isLater(after, this.#end) && (this.#lastMessage === null || !isLater(this.#lastMessage, after));
  }

  /**
   * Appends all messages between `end` and a new end.
   *
   * @param end the new end
   */
  append(messages: readonly Message[], end: Position): void {
    for (const message of messages) {
      this.#messages.push(message);
      this.#bytes += memorySize(message);
    }
    const last = messages.at(-1);
    if (!last) {
      this.advance(end);
      return;
    }
    this.#end = end;
    this.#quietEnds.length = 0;
    this.#lastMessage = last.position;
    this.#chunks.clear();
    let excess = 0;
    for (let bytes = this.#bytes; bytes > MAX_BUFFER_BYTES && excess < this.#messages.length - 1; excess++) {
      bytes -= memorySize(this.#messages[excess]);
    }
    this.dropOldest(excess);
  }

  /** Moves the end, because there are no messages between it and a later position. An earlier one has no effect. */
  advance(position: Position): void {
    if (!isLater(position, this.#end)) return;
    this.#quietEnds.push(this.#end);
    if (this.#quietEnds.length > MAX_QUIET_ENDS) this.#quietEnds.shift();
    this.#end = position;
  }

  /** Drops the oldest messages. */
  dropOldest(count: number): void {
    const dropped = this.#messages.splice(0, count);
    const last = dropped.at(-1);
    if (!last) return;
    this.#start = last.position;
    this.#firstIndex += dropped.length;
    for (const message of dropped) this.#bytes -= memorySize(message);
    this.#chunks.clear();
  }

  /** Drops the messages of before the last sweep: every connection that is not slow has sent them. */
  sweep(): void {
    this.dropOldest(Math.max(0, this.#sweptIndex - this.#firstIndex));
    this.#sweptIndex = this.endIndex;
  }

  /**
   * Drops all messages after a gap. All indexes from before the gap become invalid, including the end index, so that
   * readers that were up to date read the bus and detect the gap.
   *
   * @param end the current end of the channel's history
   */
  reset(end: Position): void {
    this.#firstIndex = this.endIndex + 1;
    this.#messages = [];
    this.#bytes = 0;
    this.#start = end;
    this.#end = end;
    this.#lastMessage = null;
    this.#quietEnds.length = 0;
    this.#chunks.clear();
  }

  /** Returns the index of the message after a position; `null` if the buffer does not contain the position. */
  indexAfter(position: Position): number | null {
    if (position === this.#end || this.#quietEnds.includes(position)) return this.endIndex;
    for (let i = this.#messages.length - 1; i >= 0; i--) {
      if (this.#messages[i]?.position === position) return this.#firstIndex + i + 1;
    }
    return position === this.#start ? this.#firstIndex : null;
  }

  /**
   * Returns the index of the message after a position at which the bus has no message of this channel, for example the
   * end of a history that all channels share; `null` if the buffer cannot determine it.
   *
   * @param from the bus has no message of this channel after `from`, up to `position`
   */
  indexAfterRead(from: Position, position: Position): number | null {
    if (isLater(position, this.#end)) {
      // The buffer has yet to receive the messages after `end`; the reader may have received those before `from`.
      return isLater(from, this.#end) ? null : this.endIndex;
    }
    if (isLater(this.#start, position)) return null;
    return this.#firstIndex + this.#messages.filter((message) => !isLater(message.position, position)).length;
  }

  /** Returns whether the buffer contains all messages from an index on. */
  hasFrom(index: number): boolean {
    return index >= this.#firstIndex;
  }

  /** Returns the messages from an index on, as many as a limit allows; none at the end. */
  messagesFrom(index: number, limit: ReadLimit): readonly Message[] {
    return limitMessages(
      this.#messages.slice(index - this.#firstIndex, index - this.#firstIndex + limit.messages),
      limit,
    );
  }

  /**
   * Returns the events of the messages from an index on; `null` at the end. All event streams in which the channel has the same
   * feed index share the bytes.
   *
   * @param feedIndex the index of the channel's feed in a response to POST; `null` in a response to GET with this feed only,
   *   whose ids are cursors
   */
  chunkFrom(index: number, feedIndex: number | null): EncodedChunk | null {
    if (index >= this.endIndex) return null;
    const key = chunkKey(index, feedIndex);
    const cached = this.#chunks.get(key);
    if (cached) return cached;
    const messages = this.messagesFrom(index, CHUNK_LIMIT);
    const last = messages.at(-1);
    if (!last) return null;
    const idOf = (position: Position) => (feedIndex === null ? position : shortId(feedIndex, position));
    const text = messages.map(({ position, data }) => encodeEvent(idOf(position), this.channel, data)).join("");
    const count = messages.length;
    const chunk = { bytes: Buffer.from(text), count, nextIndex: index + messages.length, position: last.position };
    const [oldest] = this.#chunks.keys();
    if (oldest !== undefined && this.#chunks.size >= MAX_CHUNKS) this.#chunks.delete(oldest);
    this.#chunks.set(key, chunk);
    return chunk;
  }
}

/** A number, because it is computed for each event stream and message. */
function chunkKey(index: number, feedIndex: number | null): number {
  return index * (MAX_FEEDS + 1) + (feedIndex === null ? MAX_FEEDS : feedIndex);
}

/** Estimates the memory of a message in bytes: its text, and 100 bytes for objects. */
function memorySize(message: Message | undefined): number {
  return message ? Buffer.byteLength(message.data) + 100 : 0;
}
