import type { Pushing, Sink } from "../http/index.ts";
import type { GapReason } from "../protocol/index.ts";
import { writeCursor } from "./cursor.ts";
import type { Guest, Hub } from "./hub.ts";
import type { Reader } from "./reader.ts";
import { type Frame, pieceOf } from "./tail.ts";
import type { Listener } from "./watched.ts";

/** A feed that is not read: its gap is told instead. */
export interface Lost {
  readonly reader: Reader;
  readonly reason: GapReason;
}

/** How often a silent connection says that it lives. */
const PING_MS = 20_000;

/** How long a reader may take nothing before it is cut. It resumes. */
const STALLED_MS = 10_000;

/** How long a connection lives: between the two, so that they do not all come back at once. */
const LIFE_MS = [270_000, 300_000] as const;

/** How long a browser waits before it comes back: between the two. */
const RETRY_MS = [1_000, 5_000] as const;

const PING = Buffer.from("event: ping\ndata: 1\n\n");

/**
 * One event stream: moves its feeds along, each at its own place, and writes no more than the other end
 * takes. It never holds more than one write of its own: what waits for a slow reader is the bus's.
 */
export class Connection implements Listener, Guest, Pushing {
  readonly #hub: Hub;
  readonly #readers: readonly Reader[];
  readonly #sink: Sink;
  readonly #onClosed: () => void;
  readonly #endsAt: number;
  #pingedAt: number;
  /** Since when the other end has taken nothing, in milliseconds; `null` while it takes. */
  #fullSince: number | null = null;
  #room: (() => void)[] = [];
  #isOpen = true;

  /** @param onClosed told once, whoever ended it */
  constructor(hub: Hub, readers: readonly Reader[], { sink, onClosed }: { sink: Sink; onClosed: () => void }) {
    const now = performance.now();
    this.#hub = hub;
    this.#readers = readers;
    this.#sink = sink;
    this.#onClosed = onClosed;
    this.#endsAt = now + between(LIFE_MS);
    this.#pingedAt = now - between([0, PING_MS]); // else those who came together would be pinged together
  }

  /** Begins: says what is lost, and what each of its feeds has missed. */
  start(lost: readonly Lost[]): void {
    this.#hub.admit(this);
    for (const reader of this.#readers) {
      if (!reader.isOver) reader.follow(this.#hub.listen(reader.channel, this));
    }
    this.#write(`retry: ${between(RETRY_MS)}\n\n`);
    for (const { reader, reason } of lost) this.#tellGap(reader, reason);
    this.wake();
  }

  /** Writes what there is to write, as much as the other end takes. */
  wake(): void {
    for (const reader of this.#readers) {
      while (this.#isOpen && this.#fullSince === null && !reader.isOver && !reader.isReading) {
        if (!reader.isLive) void this.#catchUp(reader);
        else if (!this.#writeNext(reader)) break;
      }
    }
  }

  drained(): void {
    this.#fullSince = null;
    for (const resume of this.#room.splice(0)) resume();
    this.wake();
  }

  closed(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#hub.release(this);
    for (const { channel } of this.#readers) this.#hub.ignore(channel, this);
    for (const resume of this.#room.splice(0)) resume();
    this.#onClosed();
  }

  tick(nowMs: number): void {
    if (!this.#isOpen) return;
    if (this.#fullSince !== null) {
      if (nowMs - this.#fullSince >= STALLED_MS) this.#sink.destroy();
      return;
    }
    if (nowMs >= this.#endsAt) {
      this.end();
      return;
    }
    if (nowMs - this.#pingedAt >= PING_MS) {
      this.#pingedAt = nowMs;
      this.#write(PING);
    }
    this.wake(); // those that the bus failed ask it again
  }

  end(): void {
    this.#sink.end();
    this.closed(); // nothing may be written from here on
  }

  #write(chunk: string | Uint8Array): void {
    if (!this.#sink.write(chunk) && this.#isOpen) this.#fullSince = performance.now();
  }

  /** Writes what is next of a feed that is live. @returns whether there was anything */
  #writeNext(reader: Reader): boolean {
    if (this.#readers.length === 1) {
      const slice = reader.takeSlice();
      if (slice) this.#write(slice.bytes);
      return slice !== null;
    }
    const frames = reader.takeFrames();
    if (frames.length === 0) return false;
    this.#write(this.#textOf(reader, frames));
    return true;
  }

  /** Reads the bus for a feed until it is live. What fails is tried again with the next tick. */
  async #catchUp(reader: Reader): Promise<void> {
    reader.isReading = true;
    try {
      while (this.#isOpen && !reader.isLive && (await this.#readBus(reader)));
    } catch (error) {
      this.#hub.failed(error);
      return;
    } finally {
      reader.isReading = false;
    }
    if (reader.isLive) this.wake();
  }

  /** @returns whether it is worth reading on */
  async #readBus(reader: Reader): Promise<boolean> {
    const batch = await this.#hub.read(reader.channel, reader.position, reader.limit);
    if (!this.#isOpen) return false;
    const frames = reader.takeBatch(batch);
    if (typeof frames === "string") {
      this.#tellGap(reader, frames);
      return false;
    }
    if (frames.length === 0 && !batch.more) return !reader.settle(batch.end) && reader.catchUp();
    if (!(await this.#writeAll(reader, frames))) return false;
    reader.moveTo(batch.end);
    if (!batch.more) await reader.catchUp();
    return true;
  }

  /** Writes frames in pieces, each when the other end has taken what came before. @returns whether it took all */
  async #writeAll(reader: Reader, frames: readonly Frame[]): Promise<boolean> {
    for (let at = 0; at < frames.length; ) {
      await this.#untilRoom();
      if (!this.#isOpen) return false;
      const piece = pieceOf(frames, at);
      at += piece.length;
      const text = this.#textOf(reader, piece);
      // With each piece, since what other feeds write meanwhile carries this one's position too.
      reader.moveTo(piece.at(-1)?.position ?? reader.position);
      this.#write(text);
    }
    return this.#isOpen;
  }

  async #untilRoom(): Promise<void> {
    while (this.#isOpen && this.#fullSince !== null) await new Promise<void>((resolve) => this.#room.push(resolve));
  }

  #tellGap(reader: Reader, reason: GapReason): void {
    reader.end();
    const id = writeCursor(this.#readers.map(({ position }) => position));
    this.#write(`id: ${id}\nevent: gap\ndata: ${reader.channel}\ndata: ${reason}\n\n`);
  }

  /**
   * Writes frames of one feed, each with the positions of all: whatever part of it arrives, the other
   * end can resume from there.
   */
  #textOf(reader: Reader, frames: readonly Frame[]): string {
    const positions = this.#readers.map(({ position }) => position);
    const at = this.#readers.indexOf(reader);
    let text = "";
    for (const { position, lines } of frames) {
      positions[at] = position;
      text += `id: ${writeCursor(positions)}\n${lines}`;
    }
    return text;
  }
}

function between([least, most]: readonly [number, number]): number {
  return Math.round(least + Math.random() * (most - least));
}
