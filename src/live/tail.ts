import { isLater } from "../protocol/index.ts";
import type { Message, Position } from "./bus/index.ts";

/** A message as it goes to all who listen: encoded once. */
export interface Frame extends Message {
  /** The `data` lines and the empty line: all of an event but its id. */
  readonly lines: string;
}

/** Frames that go out in one write, encoded once for all who stand at the same place. */
export interface Slice {
  readonly bytes: Uint8Array;
  /** Where the next frame will stand. */
  readonly next: number;
  readonly position: Position;
}

/** The most that goes out in one write, in bytes; a single frame may be larger. */
export const MAX_WRITE_BYTES = 64 * 1024;

/** The most that one tail keeps, in bytes. */
const MAX_TAIL_BYTES = 256 * 1024;

/** Encodes a message. */
export function frameOf(channel: string, { position, data }: Message): Frame {
  return { position, data, lines: `data: ${channel}\ndata: ${data}\n\n` };
}

/**
 * The last messages of a channel, without a hole between them: what a process has seen of it.
 *
 * Frames are numbered as they come; a number is never used twice. Whoever stands at a number that is
 * no longer held reads the bus instead, which is why anything may be dropped here at any time.
 */
export class Tail {
  readonly channel: string;
  #frames: Frame[] = [];
  #first = 0;
  /** The position that the first frame comes after. */
  #start: Position;
  #end: Position;
  #bytes = 0;
  /** What `next` was at the last sweep. */
  #swept = 0;
  /** Slices by where they begin; right until a frame comes. */
  readonly #slices = new Map<number, Slice>();

  constructor(channel: string, end: Position) {
    this.channel = channel;
    this.#start = end;
    this.#end = end;
  }

  /** The number that the next frame will have. */
  get next(): number {
    return this.#first + this.#frames.length;
  }

  /** The position up to which the channel has been seen. */
  get end(): Position {
    return this.#end;
  }

  /** Appends messages that come right after `end`. */
  append(messages: readonly Message[], end: Position): void {
    for (const message of messages) {
      const frame = frameOf(this.channel, message);
      this.#frames.push(frame);
      this.#bytes += sizeOf(frame);
    }
    this.#end = end;
    if (messages.length === 0) return;
    this.#slices.clear();
    let surplus = 0;
    for (let bytes = this.#bytes; bytes > MAX_TAIL_BYTES && surplus < this.#frames.length - 1; surplus++) {
      bytes -= sizeOf(this.#frames[surplus]);
    }
    this.drop(surplus);
  }

  /** Forgets its oldest frames. */
  drop(count: number): void {
    const dropped = this.#frames.splice(0, count);
    const last = dropped.at(-1);
    if (!last) return;
    this.#start = last.position;
    this.#first += dropped.length;
    for (const frame of dropped) this.#bytes -= sizeOf(frame);
    this.#slices.clear();
  }

  /** Forgets the frames that were there at the last sweep already: all who keep up have them. */
  sweep(): void {
    this.drop(Math.max(0, this.#swept - this.#first));
    this.#swept = this.next;
  }

  /** Forgets everything, after a hole: also that those who had read to the end were complete. */
  restart(end: Position): void {
    this.#first = this.next + 1;
    this.#frames = [];
    this.#bytes = 0;
    this.#start = end;
    this.#end = end;
    this.#slices.clear();
  }

  /** Gives the number after a position; `null` when the tail cannot tell. */
  find(position: Position): number | null {
    if (position === this.#end) return this.next;
    for (let i = this.#frames.length - 1; i >= 0; i--) {
      if (this.#frames[i]?.position === position) return this.#first + i + 1;
    }
    return position === this.#start ? this.#first : null;
  }

  /**
   * Gives the number after a position that the bus has just vouched for, though nothing of this channel
   * stands there: it may be where all channels stood, or a time. `null` when the tail cannot tell.
   *
   * @param from from which on, up to `position`, the bus has nothing
   */
  place(from: Position, position: Position): number | null {
    // What it has yet to see may lie before `from`, and be known there already.
    if (!isLater(position, this.#end)) return isLater(this.#start, position) ? null : this.#after(position);
    return isLater(from, this.#end) ? null : this.next;
  }

  #after(position: Position): number {
    return this.#first + this.#frames.filter((frame) => !isLater(frame.position, position)).length;
  }

  /** Answers whether the frames from a number on are all held. */
  holds(from: number): boolean {
    return from >= this.#first;
  }

  /** Gives the frames from a number on, as many as go out in one write; none at the end. */
  frames(from: number): readonly Frame[] {
    return pieceOf(this.#frames, from - this.#first);
  }

  /** Gives the same for one who listens to this channel alone: bytes that all of them share. */
  slice(from: number): Slice | null {
    const known = this.#slices.get(from);
    if (known) return known;
    const frames = this.frames(from);
    const last = frames.at(-1);
    if (!last) return null;
    const text = frames.map(({ position, lines }) => `id: ${position}\n${lines}`).join("");
    const slice = { bytes: Buffer.from(text), next: from + frames.length, position: last.position };
    this.#slices.set(from, slice);
    return slice;
  }
}

/** Gives the frames from a place on that go out in one write: one at least, where there is one. */
export function pieceOf(frames: readonly Frame[], from: number): readonly Frame[] {
  let bytes = 0;
  let end = from;
  while (end < frames.length && bytes < MAX_WRITE_BYTES) bytes += frames[end++]?.lines.length ?? 0;
  return frames.slice(from, end);
}

/** As memory counts: two bytes a character at most, and what the objects cost. */
function sizeOf(frame: Frame | undefined): number {
  return frame ? frame.lines.length + frame.data.length + 100 : 0;
}
