import { randomBytes } from "node:crypto";
import { constants, link, mkdir, open, readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { SUBJECT_PATTERN } from "./subjects.ts";

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
export function parseHeader(line: string): SegmentHeader | null {
  const [, epoch, base] = HEADER.exec(line) ?? [];
  return epoch === undefined || base === undefined ? null : { epoch, base: Number(base) };
}

/** A line of a segment after its header. */
export type SegmentLine = { readonly timeMs: number; readonly subject: string } | "seal";

/**
 * Returns what a line contains; `null` for any other text. A line that was written in part is one: nobody has received a
 * confirmation of it.
 */
export function parseLine(line: string): SegmentLine | null {
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
export async function createSegment(folder: string, number: number, header: SegmentHeader): Promise<boolean> {
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
