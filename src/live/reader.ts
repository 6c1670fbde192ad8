import { type GapReason, isLater } from "../protocol/index.ts";
import type { Batch, Position } from "./bus/index.ts";
import { OVER } from "./cursor.ts";
import { type Frame, frameOf, MAX_WRITE_BYTES, type Slice } from "./tail.ts";
import { READ_LIMIT, type WatchedChannel } from "./watched.ts";

/**
 * One feed being read: its position, and where that is in what this process has seen. It stands at a
 * number of the channel's tail while the tail holds it, and otherwise reads the bus.
 */
export class Reader {
  readonly channel: string;
  /** Whether the bus is being read for it. */
  isReading = false;

  #position: Position;
  #watched: WatchedChannel | null = null;
  #next: number | null = null;
  #limit = 16;

  constructor(channel: string, position: Position) {
    this.channel = channel;
    this.#position = position;
  }

  /** Up to where it has everything; {@link OVER} once a gap was told. */
  get position(): Position {
    return this.#position;
  }

  get isOver(): boolean {
    return this.#position === OVER;
  }

  /** Gives it the channel as this process sees it. */
  follow(watched: WatchedChannel): void {
    this.#watched = watched;
  }

  /** Whether all that comes after its position is in the tail, or yet to come there. */
  get isLive(): boolean {
    const tail = this.#watched?.tail;
    if (!tail) return false;
    if (this.#next === null || !tail.holds(this.#next)) this.#next = tail.find(this.#position);
    return this.#next !== null;
  }

  /** Takes what is next in the tail, as it goes to all who follow this channel alone. */
  takeSlice(): Slice | null {
    const slice = this.isLive && this.#next !== null ? this.#watched?.tail?.slice(this.#next) : null;
    if (!slice) return null;
    this.#next = slice.next;
    this.#position = slice.position;
    return slice;
  }

  /** Takes the frames that are next in the tail, as many as go out in one write. */
  takeFrames(): readonly Frame[] {
    const frames = this.isLive && this.#next !== null ? (this.#watched?.tail?.frames(this.#next) ?? []) : [];
    const last = frames.at(-1);
    if (!last || this.#next === null) return [];
    this.#next += frames.length;
    this.#position = last.position;
    return frames;
  }

  /** How many messages to read from the bus: about as many as go out in one write, going by the last ones. */
  get limit(): number {
    return this.#limit;
  }

  /**
   * Takes what the bus gave, and stays where it is: its position moves with what is handed on.
   *
   * @returns its frames, or why there are none and never will be
   */
  takeBatch(batch: Batch): readonly Frame[] | GapReason {
    if (batch.gap) return batch.reset ? "reset" : "trimmed";
    const frames = batch.messages.map((message) => frameOf(this.channel, message));
    if (frames.length === 0) return frames;
    const bytes = frames.reduce((sum, { lines }) => sum + lines.length, 0);
    const fitting = Math.max(1, Math.ceil((MAX_WRITE_BYTES * frames.length) / bytes));
    this.#limit = Math.min(READ_LIMIT, this.#limit * 2, fitting);
    return frames;
  }

  /** Moves on: everything up to here has been handed on. */
  moveTo(position: Position): void {
    this.#position = position;
    this.#next = null;
  }

  /**
   * Moves on to where the bus has just had nothing more to give, and looks for its place in the tail.
   *
   * @returns whether it has one: then it is live
   */
  settle(position: Position): boolean {
    const from = this.#position;
    this.moveTo(position);
    this.#next = this.#watched?.tail?.place(from, position) ?? null;
    return this.#next !== null;
  }

  /** Reads no more: its gap is told. */
  end(): void {
    this.#position = OVER;
  }

  /**
   * Asks the channel to take note of what the bus has.
   *
   * @returns whether it has come as far as this reader, so that what is read next will {@link settle} it
   */
  async catchUp(): Promise<boolean> {
    await this.#watched?.refresh();
    const end = this.#watched?.tail?.end;
    return end !== undefined && !isLater(this.#position, end);
  }
}
