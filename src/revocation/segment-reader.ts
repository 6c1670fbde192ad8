import { open } from "node:fs/promises";
import { createLogEpoch } from "./memory.ts";
import { createSegment, listSegments, parseHeader, parseLine, type SegmentHeader, segmentPath } from "./segments.ts";
import type { Revocation } from "./store.ts";

/** How far the log was read: the segment, and the bytes of it up to the end of a line. */
export interface Cursor {
  readonly number: number;
  readonly header: SegmentHeader;
  readonly offset: number;
  /** The last bytes before the offset. They contain the time and the subject of the last entry. */
  readonly tail: string;
  /** The `seq` of the last entry. */
  readonly seq: number;
  /** The time of the first entry of the segment, in milliseconds since the Unix epoch; `null` without one. */
  readonly startedMs: number | null;
  readonly isSealed: boolean;
}

/** More than an entry has. */
const TAIL_BYTES = 64;

/** What {@link SegmentReader.read} has read. */
export interface SegmentsRead {
  /** The entries since the last read; all of them at the first one, and if the log was replaced. */
  readonly entries: readonly Revocation[];
  readonly cursor: Cursor;
}

/**
 * Reads the segments of a folder, and continues where it has stopped. A new log is created in an empty folder.
 *
 * The `seq` of an entry is the time of its writer, but at least one more than that of the entry before it. It depends on
 * nothing but the contents of the segment, so every process computes the same.
 */
export class SegmentReader {
  readonly #folder: string;
  #cursor: Cursor | null = null;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Reads to the end of the log. Do not call it again before it has ended. */
  async read(): Promise<SegmentsRead> {
    const known = await this.#validCursor();
    const entries: Revocation[] = [];
    let cursor = await this.#readSegment(known ?? (await this.#firstSegment()), entries);
    while (cursor.isSealed) {
      const next = await this.#nextSegment(cursor);
      // Another log continues after a restore: what came before is not a part of it.
      if (next.header.epoch !== cursor.header.epoch) entries.length = 0;
      cursor = await this.#readSegment(next, entries);
    }
    this.#cursor = cursor;
    return { entries, cursor };
  }

  /** Returns the cursor; `null` if its segment is not the one that was read: it was removed, replaced or set back. */
  async #validCursor(): Promise<Cursor | null> {
    const cursor = this.#cursor;
    if (cursor === null) return null;
    const header = await this.#readHeader(cursor.number);
    if (header?.epoch !== cursor.header.epoch || header.base !== cursor.header.base) return null;
    const { number, offset, tail } = cursor;
    const buffer = Buffer.alloc(tail.length);
    const read = await this.#readAt(number, { buffer, position: offset - tail.length });
    return buffer.toString("latin1", 0, read) === tail ? cursor : null;
  }

  async #firstSegment(): Promise<Cursor> {
    const [first] = await listSegments(this.#folder);
    if (first !== undefined) return this.#startOf(first);
    await createSegment(this.#folder, 1, { epoch: createLogEpoch(), base: 0 });
    return this.#startOf(1); // of another process, if that was faster
  }

  /** Every process that finds the seal computes the same header, so it does not matter which one creates the segment. */
  async #nextSegment({ number, header, seq }: Cursor): Promise<Cursor> {
    await createSegment(this.#folder, number + 1, { epoch: header.epoch, base: seq });
    return this.#startOf(number + 1);
  }

  async #startOf(number: number): Promise<Cursor> {
    const header = await this.#readHeader(number);
    if (header) {
      const { length, base } = header;
      return { number, header, offset: length, tail: "", seq: base, startedMs: null, isSealed: false };
    }
    throw new Error(`${segmentPath(this.#folder, number)} is not a revocation log. Move it away, or restore it.`);
  }

  async #readHeader(number: number): Promise<(SegmentHeader & { readonly length: number }) | null> {
    const bytes = Buffer.alloc(128);
    const read = await this.#readAt(number, { buffer: bytes, position: 0 });
    if (read === 0) return null;
    const length = bytes.subarray(0, read).indexOf("\n") + 1;
    const header = length === 0 ? null : parseHeader(bytes.toString("latin1", 0, length - 1));
    return header && { ...header, length };
  }

  /** Fills a buffer from a segment. @returns the number of bytes that were read */
  async #readAt(
    number: number,
    { buffer, position }: { readonly buffer: Buffer; readonly position: number },
  ): Promise<number> {
    const file = await open(segmentPath(this.#folder, number), "r").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return null;
      throw error;
    });
    if (!file) return 0;
    try {
      return (await file.read(buffer, 0, buffer.length, position)).bytesRead;
    } finally {
      await file.close();
    }
  }

  /** Reads a segment to its seal or its end, in chunks, and adds its entries. */
  async #readSegment(from: Cursor, entries: Revocation[]): Promise<Cursor> {
    const buffer = Buffer.alloc(64 * 1024);
    let cursor = from;
    while (!cursor.isSealed) {
      const read = await this.#readAt(cursor.number, { buffer, position: cursor.offset });
      // A full buffer without a line break is no line of a log, such as the zeros that a power failure can leave.
      const end = buffer.subarray(0, read).lastIndexOf("\n") + 1 || (read === buffer.length ? read : 0);
      if (end === 0) break; // nothing, or a line that is still being written
      const text = buffer.toString("latin1", 0, end);
      const next = { ...cursor, offset: cursor.offset + end, tail: text.slice(-TAIL_BYTES) };
      cursor = addLines(next, text, entries);
    }
    return cursor;
  }
}

function addLines(cursor: Cursor, text: string, entries: Revocation[]): Cursor {
  let { seq, startedMs } = cursor;
  for (const line of text.split("\n")) {
    const parsed = parseLine(line);
    if (parsed === "seal") return { ...cursor, seq, startedMs, isSealed: true };
    if (parsed === null) continue;
    seq = Math.max(seq + 1, parsed.timeMs);
    startedMs ??= parsed.timeMs;
    entries.push({ subject: parsed.subject, seq });
  }
  return { ...cursor, seq, startedMs };
}
