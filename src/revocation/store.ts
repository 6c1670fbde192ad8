/**
 * The contract of a store of revocations, and the store in memory. `tests/conformance/revocations.ts` is the suite that every
 * implementation passes.
 *
 * @see docs/protocol.md 7.8
 */
import { createHash, randomBytes } from "node:crypto";

/** A place in a revocation log: everything up to `seq` has been read. */
export interface LogPosition {
  /** The identifier of one history of the log, 1 to 20 digits and lower-case letters. An emptied store has a new one. */
  readonly epoch: string;
  /** A whole number from 0 to 2^43 - 1. Of two entries of one epoch, the later one has the greater number. */
  readonly seq: number;
}

/** An entry of a revocation log. */
export interface Revocation {
  /** Whom it signs out, as {@link subjectOfUser} and {@link subjectOfSignIn} return it. */
  readonly subject: string;
  readonly seq: number;
}

/** The result of {@link RevocationStore.read}. */
export interface RevocationRead {
  readonly epoch: string;
  /**
   * All stored entries after the position, in the order of `seq`; all stored entries if it is of another epoch. A store
   * may keep only the last entry of a subject.
   */
  readonly entries: readonly Revocation[];
  /** The `seq` up to which the log was read: every entry that is appended after the read has started is later. */
  readonly end: number;
}

/**
 * Stores the revocation log of an application, for at least {@link KEEP_SECONDS}.
 *
 * Every store guarantees:
 * - An entry that `append` has confirmed is contained in every read that starts afterwards, also if any process is killed.
 * - An entry that is appended after a read has ended has a greater `seq` than the `end` of that read, or another epoch.
 */
export interface RevocationStore {
  /**
   * Appends an entry. Resolves when it is stored durably.
   *
   * @throws Error if the store has not confirmed it. It may be stored nevertheless.
   */
  append(subject: string): Promise<void>;
  /**
   * Reads the log after a position.
   *
   * @param after `null` to read all of it
   * @throws Error if the store cannot be read; ConfigError if it will never be
   */
  read(after: LogPosition | null): RevocationRead | Promise<RevocationRead>;
  /**
   * Optional, for a store without a bus. Calls `listener` soon after another process has appended an entry.
   *
   * @returns a function that stops the calls
   */
  watch?(listener: () => void): () => void;
}

/**
 * How long a store keeps entries, in seconds: the lifetime of a session, and a day more for clocks that differ. A session
 * that an older entry would refuse has expired.
 */
export const KEEP_SECONDS = 8 * 24 * 60 * 60;

const POSITION = /^([0-9a-z]{1,20})\.([0-9a-z]{1,9})$/;

/** Positions of a log have a smaller `seq`: a time in milliseconds until the year 2248. */
export const SEQ_LIMIT = 2 ** 43;

/** Returns a position as session cookies contain it. @see docs/protocol.md 7.3 */
export function formatLogPosition({ epoch, seq }: LogPosition): string {
  return `${epoch}.${seq.toString(36)}`;
}

/** Returns the position of a session cookie; `null` for any other value, also one of another type. */
export function parseLogPosition(value: unknown): LogPosition | null {
  const [, epoch, digits] = typeof value === "string" ? (POSITION.exec(value) ?? []) : [];
  if (epoch === undefined || digits === undefined) return null;
  const seq = Number.parseInt(digits, 36);
  return seq < SEQ_LIMIT ? { epoch, seq } : null;
}

/** The bytes of a hash that identify a subject: nobody finds two users with the same one. */
const HASH_BYTES = 16;

/** The format of every subject: its kind, and a hash in base64url. */
export const SUBJECT_PATTERN = /^[us]:[\w-]{22}$/;

/**
 * Returns the subject of a revocation of all sign-ins of a user. The store contains a hash, since a user id can be long or
 * an e-mail address.
 */
export function subjectOfUser(sub: string): string {
  return `u:${hash(sub)}`;
}

/** Returns the subject of a revocation of one sign-in. */
export function subjectOfSignIn(sid: string): string {
  return `s:${hash(sid)}`;
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest().subarray(0, HASH_BYTES).toString("base64url");
}

/** Returns a store in the memory of this process, for development and tests: it forgets everything when the process ends. */
export function memoryRevocations(): RevocationStore {
  const epoch = createLogEpoch();
  /** The `seq` of the last entry of each subject, in the order of the entries. */
  const seqs = new Map<string, number>();
  let end = 0;
  return {
    async append(subject) {
      seqs.delete(subject);
      seqs.set(subject, ++end);
    },
    read(after) {
      const from = after?.epoch === epoch ? after.seq : 0;
      const entries: Revocation[] = [];
      for (const [subject, seq] of seqs) if (seq > from) entries.push({ subject, seq });
      return { epoch, entries, end };
    },
  };
}

/** Returns a new identifier of a log: 13 digits and lower-case letters with 64 random bits. */
export function createLogEpoch(): string {
  return randomBytes(8).readBigUInt64BE().toString(36).padStart(13, "0");
}
