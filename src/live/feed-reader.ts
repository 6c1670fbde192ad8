import type { Message, Position, ReadLimit, ReadResult } from "../backends/index.ts";
import { type GapReason, isLater } from "../protocol/index.ts";
import type { ChannelSubscription } from "./channel-subscription.ts";
import { ENDED } from "./feed.ts";
import type { EncodedChunk, MessageBuffer } from "./message-buffer.ts";

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
  /** When the feed expires, by `performance.now`. */
  readonly expiresAtMs: number;

  #position: Position;
  /** The position that the client was told last. */
  #toldPosition: Position;
  #subscription: ChannelSubscription | null = null;
  /** The index of the next message in the buffer; `null` if it is unknown. */
  #nextIndex: number | null = null;

  constructor(channel: string, position: Position, expiresAtMs = Number.POSITIVE_INFINITY) {
    this.channel = channel;
    this.expiresAtMs = expiresAtMs;
    this.#position = position;
    this.#toldPosition = position;
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

  /**
   * Returns the next events of the buffer, and advances; `null` at the end.
   *
   * @param feedIndex as for {@link MessageBuffer.chunkFrom}
   */
  takeChunk(feedIndex: number | null): EncodedChunk | null {
    if (!this.isLive || this.#nextIndex === null) return null;
    const chunk = this.#subscription?.buffer?.chunkFrom(this.#nextIndex, feedIndex) ?? null;
    if (!chunk) return null;
    this.#nextIndex = chunk.nextIndex;
    this.markSent(chunk.position);
    return chunk;
  }

  /** Returns the next messages of the buffer, as many as a limit allows, and advances; none at the end. */
  takeMessages(limit: ReadLimit): readonly Message[] {
    if (!this.isLive || this.#nextIndex === null) return [];
    const messages = this.#subscription?.buffer?.messagesFrom(this.#nextIndex, limit) ?? [];
    const last = messages.at(-1);
    if (!last) return [];
    this.#nextIndex += messages.length;
    this.markSent(last.position);
    return messages;
  }

  /** Advances to the position of a message that is sent with it. */
  markSent(position: Position): void {
    this.#position = position;
    this.#toldPosition = position;
  }

  /** Advances to a position up to which everything has been sent. The client has yet to be told. */
  moveTo(position: Position): void {
    this.#position = position;
    this.#nextIndex = null;
  }

  /** Advances to the end of the buffer if all its messages have been sent. */
  advanceToEnd(): void {
    const buffer = this.#subscription?.buffer;
    if (!buffer || this.isEnded || !this.isLive || this.#nextIndex !== buffer.endIndex) return;
    // After a read of the bus, the position may be ahead of the buffer.
    if (isLater(buffer.end, this.#position)) this.#position = buffer.end;
  }

  /**
   * Advances to the end of the buffer if all its messages have been sent, and returns whether the position is another than the
   * client was told. From then on it counts as told.
   */
  takeUntoldPosition(): boolean {
    this.advanceToEnd();
    if (this.#toldPosition === this.#position) return false;
    this.#toldPosition = this.#position;
    return true;
  }

  /**
   * Advances to the position at which the bus had no more messages, and looks it up in the buffer. If the buffer has not
   * reached the position, it reads the bus up to its end.
   *
   * @returns whether the reader can continue now; otherwise the bus is unreachable, or there is no buffer
   */
  async moveToEnd(position: Position): Promise<boolean> {
    const from = this.#position;
    this.moveTo(position);
    this.#nextIndex = this.#subscription?.buffer?.indexAfterRead(from, position) ?? null;
    if (this.#nextIndex !== null) return true;
    await this.#subscription?.catchUp();
    const end = this.#subscription?.buffer?.end;
    return end !== undefined && !isLater(this.#position, end);
  }

  /** Ends the reader, because its gap is sent. */
  end(): void {
    this.markSent(ENDED);
  }
}

/** Returns the reason of the gap that a read has found; `null` if it has found none. */
export function gapReason({ gap, reset }: ReadResult): Exclude<GapReason, "expired"> | null {
  if (!gap) return null;
  return reset ? "reset" : "trimmed";
}
