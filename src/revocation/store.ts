/**
 * The contract of a store of revocations. `tests/conformance/revocations.ts` is the suite that every implementation
 * passes.
 *
 * @see docs/protocol.md 7.8
 */

/** A place in a revocation log: everything up to `seq` has been read. */
export interface LogPosition {
  /** The identifier of one history of the log, 1 to 20 digits and lower-case letters. An emptied store has a new one. */
  readonly epoch: string;
  /** A whole number from 0 to 2^43 - 1. Of two entries of one epoch, the later one has the greater number. */
  readonly seq: number;
}

/** An entry of a revocation log. */
export interface Revocation {
  /** Whom it signs out: see `subjects.ts`. */
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
