import { open } from "node:fs/promises";
import { createLogEpoch } from "./memory.ts";
import { createSegment, listSegments, parseHeader, parseLine, type SegmentHeader, segmentPath } from "./segments.ts";
import type { Revocation } from "./store.ts";

/** How far the log was read: the segment, and the bytes of it up to the end of a line. */
export interface Cursor {
  readonly number: number;
  readonly header: SegmentHeader;
  readonly offset: number;
  /** The `seq` of the last entry. */
  readonly seq: number;
  /** The time of the first entry of the segment, in milliseconds since the Unix epoch; `null` without one. */
  readonly startedMs: number | null;
  readonly isSealed: boolean;
}

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
    const isSame = header?.epoch === cursor.header.epoch && header.base === cursor.header.base;
    return isSame && header.size >= cursor.offset ? cursor : null;
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
    if (header) return { number, header, offset: header.length, seq: header.base, startedMs: null, isSealed: false };
    throw new Error(`${segmentPath(this.#folder, number)} is not a revocation log. Move it away, or restore it.`);
  }

  async #readHeader(number: number): Promise<(SegmentHeader & { length: number; size: number }) | null> {
    const bytes = Buffer.alloc(128);
    const { size, read } = await this.#readAt(number, { buffer: bytes, position: 0 });
    if (read === 0) return null;
    const length = bytes.subarray(0, read).indexOf("\n") + 1;
    const header = length === 0 ? null : parseHeader(bytes.toString("latin1", 0, length - 1));
    return header && { ...header, length, size };
  }

  async #readAt(
    number: number,
    { buffer, position }: { readonly buffer: Buffer; readonly position: number },
  ): Promise<{ readonly size: number; readonly read: number }> {
    const file = await open(segmentPath(this.#folder, number), "r").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return null;
      throw error;
    });
    if (!file) return { size: 0, read: 0 };
    try {
      const { size } = await file.stat();
      const { bytesRead } = await file.read(buffer, 0, buffer.length, position);
      return { size, read: bytesRead };
    } finally {
      await file.close();
    }
  }

  /** Reads a segment to its seal or its end, in chunks, and adds its entries. */
  async #readSegment(from: Cursor, entries: Revocation[]): Promise<Cursor> {
    const buffer = Buffer.alloc(64 * 1024);
    let cursor = from;
    while (!cursor.isSealed) {
      const { read } = await this.#readAt(cursor.number, { buffer, position: cursor.offset });
      const end = buffer.subarray(0, read).lastIndexOf("\n") + 1;
      if (end === 0) break; // nothing, or a line that is still being written
      cursor = addLines({ ...cursor, offset: cursor.offset + end }, buffer.toString("latin1", 0, end - 1), entries);
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
