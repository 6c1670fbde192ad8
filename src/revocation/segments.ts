import { randomBytes } from "node:crypto";
import { constants, link, mkdir, open, readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { createLogEpoch, type Revocation, SUBJECT_PATTERN } from "./store.ts";

/** The beginning of a segment: what its entries continue. */
export interface SegmentHeader {
  readonly epoch: string;
  /** The `seq` of the last entry before the segment; 0 for the first segment of an epoch. */
  readonly base: number;
}

const FILE_NAME = /^revocations-(\d{1,9})\.log$/;
const HEADER = /^tsweb revocations 1 ([0-9a-z]{1,20}) (\d{1,13})$/;
const ENTRY = /^(\d{13}) ([us]:[\w-]{22})$/;

/** The line that ends a segment: what follows it does not count. */
const SEAL = "next";

/** Returns the numbers of the segments in a folder, oldest first. */
export async function listSegments(folder: string): Promise<readonly number[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const numbers = names.flatMap((name) => FILE_NAME.exec(name)?.[1] ?? []).map(Number);
  return numbers.sort((a, b) => a - b);
}

/** Returns the path of a segment. */
export function segmentPath(folder: string, number: number): string {
  return join(folder, `revocations-${number}.log`);
}

/** Returns the header of a segment by its first line; `null` if tsweb has not written it. */
function parseHeader(line: string): SegmentHeader | null {
  const [, epoch, base] = HEADER.exec(line) ?? [];
  return epoch === undefined || base === undefined ? null : { epoch, base: Number(base) };
}

/** A line of a segment after its header. */
export type SegmentLine = { readonly timeMs: number; readonly subject: string } | "seal";

/**
 * Returns what a line contains; `null` for any other text. A line that was written in part is one: nobody has received a
 * confirmation of it.
 */
function parseLine(line: string): SegmentLine | null {
  if (line === SEAL) return "seal";
  const [, time, subject] = ENTRY.exec(line) ?? [];
  return time === undefined || subject === undefined ? null : { timeMs: Number(time), subject };
}

/** Appends an entry to a segment. @see {@link appendLine} */
export async function appendEntry(path: string, subject: string, timeMs: number): Promise<void> {
  if (!SUBJECT_PATTERN.test(subject)) throw new Error(`Not a subject of a revocation: ${subject}`);
  await appendLine(path, `${String(timeMs).padStart(13, "0")} ${subject}`);
}

/** Ends a segment, so that the log continues in the next one. */
export async function sealSegment(path: string): Promise<void> {
  await appendLine(path, SEAL);
}

/**
 * Appends a line, and waits until the disk has stored it. The system appends what several processes write one after the
 * other (O_APPEND). The line break before the line ends one that was written in part, for example on a full disk.
 */
async function appendLine(path: string, text: string): Promise<void> {
  const file = await open(path, constants.O_WRONLY | constants.O_APPEND);
  try {
    const line = Buffer.from(`\n${text}\n`);
    const { bytesWritten } = await file.write(line);
    if (bytesWritten < line.length) throw new Error(`${path} has no room for a revocation. Is the disk full?`);
    await file.datasync();
  } finally {
    await file.close();
  }
}

/**
 * Creates a segment with its header, unless it exists. The name appears when the header is stored: no process ever reads a
 * segment without one.
 *
 * @returns whether this call has created it
 */
async function createSegment(folder: string, number: number, header: SegmentHeader): Promise<boolean> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const temporary = join(folder, `.revocations-${randomBytes(8).toString("hex")}.tmp`);
  try {
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(`tsweb revocations 1 ${header.epoch} ${header.base}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await link(temporary, segmentPath(folder, number)); // fails if it exists, unlike rename
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  } finally {
    await unlink(temporary).catch(() => undefined); // it may not have been created
  }
  await syncFolder(folder);
  return true;
}

/** Waits until the disk has stored the names in a folder. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return; // where a folder cannot be opened
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** How far the log was read: the segment, and the bytes of it up to the end of a line. */
interface Cursor {
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
interface SegmentsRead {
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
