import { type GapReason, isLater } from "../protocol/index.ts";
import type { Position, ReadResult } from "./bus/index.ts";
import { type ChannelSubscription, READ_LIMIT } from "./channel-subscription.ts";
import { ENDED } from "./cursor.ts";
import { type EncodedChunk, type EncodedMessage, encodeMessage, MAX_WRITE_BYTES } from "./message-buffer.ts";

/** A feed that cannot be delivered completely. */
export interface Gap {
  readonly reader: FeedReader;
  readonly reason: GapReason;
}

/**
 * The read position of one feed of a connection. A reader that is up to date reads the channel's buffer; one that is
 * behind the buffer reads the bus until it is up to date.
 */
export class FeedReader {
  readonly channel: string;
  /** Whether a read of the bus for this reader is in progress. */
  isReading = false;

  #position: Position;
  #subscription: ChannelSubscription | null = null;
  /** The index of the next message in the buffer; `null` if it is unknown. */
  #nextIndex: number | null = null;
  #limit = 16;

  constructor(channel: string, position: Position) {
    this.channel = channel;
    this.#position = position;
  }

  /** The position up to which the client has received everything; {@link ENDED} after a gap. */
  get position(): Position {
    return this.#position;
  }

  /** Whether the feed had a gap: nothing more is read. */
  get isEnded(): boolean {
    return this.#position === ENDED;
  }

  /** Sets the subscription whose buffer is read. */
  attach(subscription: ChannelSubscription): void {
    this.#subscription = subscription;
  }

  /** Whether all messages after the position are in the buffer, or will be appended to it. */
  get isLive(): boolean {
    const buffer = this.#subscription?.buffer;
    if (!buffer) return false;
    if (this.#nextIndex === null || !buffer.hasFrom(this.#nextIndex)) {
      this.#nextIndex = buffer.indexAfter(this.#position);
    }
    return this.#nextIndex !== null;
  }

  /** Returns the next events of the buffer, for a connection with this feed only, and advances; `null` at the end. */
  takeChunk(): EncodedChunk | null {
    if (!this.isLive || this.#nextIndex === null) return null;
    const chunk = this.#subscription?.buffer?.chunkFrom(this.#nextIndex) ?? null;
    if (!chunk) return null;
    this.#nextIndex = chunk.nextIndex;
    this.#position = chunk.position;
    return chunk;
  }

  /** Returns the next messages of the buffer, as many as fit into one write, and advances. */
  takeMessages(): readonly EncodedMessage[] {
    if (!this.isLive || this.#nextIndex === null) return [];
    const messages = this.#subscription?.buffer?.messagesFrom(this.#nextIndex) ?? [];
    const last = messages.at(-1);
    if (!last) return [];
    this.#nextIndex += messages.length;
    this.#position = last.position;
    return messages;
  }

  /** The number of messages to read from the bus: by the size of the previous ones, about as many as one write has. */
  get limit(): number {
    return this.#limit;
  }

  /**
   * Encodes the result of a read. Does not advance: call {@link moveTo} for the messages that have been sent.
   *
   * @returns the messages, or the reason of the gap
   */
  encodeResult(result: ReadResult): readonly EncodedMessage[] | GapReason {
    if (result.gap) return result.reset ? "reset" : "trimmed";
    const messages = result.messages.map((message) => encodeMessage(this.channel, message));
    if (messages.length === 0) return messages;
    const bytes = messages.reduce((sum, { dataLines }) => sum + dataLines.length, 0);
    const perWrite = Math.max(1, Math.ceil((MAX_WRITE_BYTES * messages.length) / bytes));
    this.#limit = Math.min(READ_LIMIT, this.#limit * 2, perWrite);
    return messages;
  }

  /** Advances to a position up to which everything has been sent. */
  moveTo(position: Position): void {
    this.#position = position;
    this.#nextIndex = null;
  }

  /**
   * Advances to the position at which the bus had no more messages, and looks it up in the buffer.
   *
   * @returns whether the buffer contains it: then the reader is live
   */
  moveToEnd(position: Position): boolean {
    const from = this.#position;
    this.moveTo(position);
    this.#nextIndex = this.#subscription?.buffer?.indexAfterRead(from, position) ?? null;
    return this.#nextIndex !== null;
  }

  /** Ends the reader, because its gap has been sent. */
  end(): void {
    this.#position = ENDED;
  }

  /**
   * Has the buffer read the bus up to its end.
   *
   * @returns whether the buffer has reached the reader's position: then the next read makes the reader live
   */
  async refreshBuffer(): Promise<boolean> {
    await this.#subscription?.catchUp();
    const end = this.#subscription?.buffer?.end;
    return end !== undefined && !isLater(this.#position, end);
  }
}
