import { access, constants, stat, unlink } from "node:fs/promises";
import { ConfigError } from "../config/index.ts";
import { appendEntry, listSegments, SegmentReader, sealSegment, segmentPath } from "./segments.ts";
import { KEEP_SECONDS, type LogPosition, type RevocationRead, type RevocationStore } from "./store.ts";

/** The options of {@link fileRevocations}. */
export interface FileRevocationsOptions {
  /** Returns the time in milliseconds since the Unix epoch. */
  readonly now?: () => number;
}

/** How often a process looks whether another one has written: well within a second, for a few microseconds each. */
const WATCH_INTERVAL_MS = 300;

/**
 * Returns a store in a folder, which all processes of one machine can share. An entry is confirmed after `fsync`.
 *
 * The log consists of segments, files to which lines are appended. The system orders what several processes append, so
 * there is no lock that a killed process could hold. When the first entry of a segment is older than {@link KEEP_SECONDS},
 * the next entry goes into a new segment, and all but the last two are removed.
 *
 * @param folder the path of `WEB_DATA_DIR`; created if it does not exist
 */
export function fileRevocations(folder: string, options: FileRevocationsOptions = {}): RevocationStore {
  return new FileRevocations(folder, options);
}

class FileRevocations implements RevocationStore {
  readonly #folder: string;
  readonly #now: () => number;
  /** The reads and appends of this process, one after the other. */
  #queue: Promise<unknown> = Promise.resolve();
  #reader: SegmentReader;
  /** What `reader` has returned last; `null` before. */
  #readTo: LogPosition | null = null;
  /** Finds the end of the log for `append`. */
  readonly #writer: SegmentReader;

  constructor(folder: string, { now = Date.now }: FileRevocationsOptions) {
    this.#folder = folder;
    this.#now = now;
    this.#reader = new SegmentReader(folder);
    this.#writer = new SegmentReader(folder);
  }

  append(subject: string): Promise<void> {
    return this.#run(async () => {
      let { number, startedMs } = (await this.#writer.read()).cursor;
      if (startedMs !== null && this.#now() - startedMs > KEEP_SECONDS * 1000) {
        await sealSegment(segmentPath(this.#folder, number));
        ({ number } = (await this.#writer.read()).cursor);
        await this.#removeBefore(number - 1);
      }
      for (let written = 0; written < number; ) {
        written = number;
        await appendEntry(segmentPath(this.#folder, number), subject, this.#now());
        // Another process may have sealed the segment before the entry, which then does not count.
        ({ number } = (await this.#writer.read()).cursor);
      }
    });
  }

  read(after: LogPosition | null): Promise<RevocationRead> {
    const isFirst = after === null;
    const work = async () => {
      const continues = after?.epoch === this.#readTo?.epoch && after?.seq === this.#readTo?.seq;
      if (!continues) this.#reader = new SegmentReader(this.#folder);
      const { entries, cursor } = await this.#reader.read();
      if (isFirst) await access(this.#folder, constants.W_OK); // at the start, before somebody has to be signed out
      const { epoch } = cursor.header;
      this.#readTo = { epoch, seq: cursor.seq };
      const from = after?.epoch === epoch ? after.seq : 0;
      return { epoch, entries: entries.filter(({ seq }) => seq > from), end: cursor.seq };
    };
    return this.#run(work, isFirst);
  }

  watch(listener: () => void): () => void {
    let last: string | undefined;
    const look = async () => {
      const current = await this.#describe();
      if (current !== last) listener(); // also the first time: a change before it may have been missed
      last = current;
    };
    let isLooking = false;
    const timer = setInterval(() => {
      if (isLooking) return;
      isLooking = true;
      void look().finally(() => {
        isLooking = false;
      });
    }, WATCH_INTERVAL_MS).unref();
    return () => clearInterval(timer);
  }

  /** Returns a text that differs whenever the log has changed. Never rejects. */
  async #describe(): Promise<string> {
    try {
      const number = (await listSegments(this.#folder)).at(-1) ?? 0;
      const { size, ino, mtimeMs } = await stat(segmentPath(this.#folder, number));
      return `${number} ${ino} ${size} ${mtimeMs}`;
    } catch {
      return ""; // a read reports the reason
    }
  }

  async #removeBefore(number: number): Promise<void> {
    for (const old of await listSegments(this.#folder)) {
      if (old < number) await unlink(segmentPath(this.#folder, old)).catch(() => undefined); // another process did
    }
  }

  #run<T>(work: () => Promise<T>, isFirstRead = false): Promise<T> {
    const result = this.#queue.then(work).catch((error: unknown) => {
      throw describeError(error, this.#folder, isFirstRead);
    });
    this.#queue = result.catch(() => undefined); // the caller receives the error
    return result;
  }
}

/** Why a folder cannot be written, by the error code of the system. */
const NOT_WRITABLE: ReadonlyMap<unknown, string> = new Map([
  ["EACCES", "permission denied"],
  ["EPERM", "operation not permitted"],
  ["EROFS", "read-only file system"],
  ["ENOTDIR", "a part of the path is a file"],
  ["EEXIST", "a part of the path is a file"],
]);

/** Why a log cannot be created on a disk without room. Later these errors are temporary. */
const FULL: ReadonlyMap<unknown, string> = new Map([
  ["ENOSPC", "no space left on the disk"],
  ["EDQUOT", "disk quota exceeded"],
]);

/**
 * A folder that cannot be used is a mistake in the configuration. A full disk is one only at the first read, which creates
 * the log: the server then does not start.
 */
function describeError(error: unknown, folder: string, isFirstRead: boolean): unknown {
  if (!(error instanceof Error && "code" in error)) return error;
  const full = isFirstRead ? FULL.get(error.code) : undefined;
  const reason = full ?? NOT_WRITABLE.get(error.code);
  if (reason === undefined) return error;
  const fix = "Set it to a folder in which the user of the process may create and write files.";
  return new ConfigError([
    {
      variable: "WEB_DATA_DIR",
      problem: `is ${folder}, where revocations of sessions cannot be stored (${String(error.code)}: ${reason}).`,
      fix: full ? "Free space on that disk, or set it to a folder on another disk." : fix,
    },
  ]);
}
