import { isLater } from "../protocol/index.ts";
import type { Message, Position } from "./bus/index.ts";

/** A message in the form in which event streams send it, encoded once for all of them. */
export interface EncodedMessage extends Message {
  /** The `data` lines of the event and the empty line after them: the event without its `id`. */
  readonly dataLines: string;
}

/** Messages of one write, encoded once for all event streams that read this channel only, from this message on. */
export interface EncodedChunk {
  readonly bytes: Uint8Array;
  /** The index of the message after the chunk. */
  readonly nextIndex: number;
  /** The position of the last message. */
  readonly position: Position;
}

/** The maximum size of one write in bytes. A single message may be larger. */
export const MAX_WRITE_BYTES = 64 * 1024;

/** The maximum size of one buffer in bytes. */
const MAX_BUFFER_BYTES = 256 * 1024;

/** Encodes a message as the data of an event. @see docs/protocol.md 10.5 */
export function encodeMessage(channel: string, { position, data }: Message): EncodedMessage {
  return { position, data, dataLines: `data: ${channel}\ndata: ${data}\n\n` };
}

/**
 * The most recent messages of a channel, without omission.
 *
 * Each message has an index, counted from the first message of the buffer's lifetime. An index is never used twice. A
 * reader whose next index has been dropped reads the bus instead, so any message can be dropped at any time.
 */
export class MessageBuffer {
  readonly channel: string;
  #messages: EncodedMessage[] = [];
  /** The index of the first message of `#messages`. */
  #firstIndex = 0;
  /** The position before the first message. */
  #start: Position;
  #end: Position;
  #bytes = 0;
  /** The end index at the last sweep. */
  #sweptIndex = 0;
  /** Encoded chunks by the index of their first message. Cleared when messages are added or dropped. */
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
   * Appends all messages between `end` and a new end.
   *
   * @param end the new end
   */
  append(messages: readonly Message[], end: Position): void {
    for (const message of messages) {
      const encoded = encodeMessage(this.channel, message);
      this.#messages.push(encoded);
      this.#bytes += memorySize(encoded);
    }
    this.#end = end;
    if (messages.length === 0) return;
    this.#chunks.clear();
    let excess = 0;
    for (let bytes = this.#bytes; bytes > MAX_BUFFER_BYTES && excess < this.#messages.length - 1; excess++) {
      bytes -= memorySize(this.#messages[excess]);
    }
    this.dropOldest(excess);
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
    this.#chunks.clear();
  }

  /** Returns the index of the message after a position; `null` if the buffer does not contain the position. */
  indexAfter(position: Position): number | null {
    if (position === this.#end) return this.endIndex;
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

  /** Returns the messages from an index on, as many as fit into one write; none at the end. */
  messagesFrom(index: number): readonly EncodedMessage[] {
    return takeChunk(this.#messages, index - this.#firstIndex);
  }

  /**
   * Returns the events of the messages from an index on, for event streams with this channel only; `null` at the end.
   * All of these share the bytes.
   */
  chunkFrom(index: number): EncodedChunk | null {
    if (index >= this.endIndex) return null;
    const cached = this.#chunks.get(index);
    if (cached) return cached;
    const messages = this.messagesFrom(index);
    const last = messages.at(-1);
    if (!last) return null;
    const text = messages.map(({ position, dataLines }) => `id: ${position}\n${dataLines}`).join("");
    const chunk = { bytes: Buffer.from(text), nextIndex: index + messages.length, position: last.position };
    this.#chunks.set(index, chunk);
    return chunk;
  }
}

/** Returns the messages from an index on that fit into one write: at least one, unless the index is at the end. */
export function takeChunk(messages: readonly EncodedMessage[], from: number): readonly EncodedMessage[] {
  let bytes = 0;
  let end = from;
  while (end < messages.length && bytes < MAX_WRITE_BYTES) bytes += messages[end++]?.dataLines.length ?? 0;
  return messages.slice(from, end);
}

/** Estimates the memory of a message in bytes: its two texts, and 100 bytes for objects. */
function memorySize(message: EncodedMessage | undefined): number {
  return message ? message.dataLines.length + message.data.length + 100 : 0;
}
