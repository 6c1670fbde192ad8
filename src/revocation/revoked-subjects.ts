import { KEEP_SECONDS, type LogPosition, type RevocationRead, SEQ_LIMIT } from "./store.ts";

/** What is looked up of a session. */
export interface CheckedSession {
  /** The position that its cookie names; `null` if it names none. */
  readonly position: LogPosition | null;
  /** Whether it is that of a bearer token, which each request presents anew: only a revocation after its position ends it. */
  readonly isBearer?: boolean;
  /** The subjects whose revocation ends it. Computed on first use: without revocations nothing is looked up. */
  readonly subjects: { readonly user: string; readonly signIn: string };
}

/** The maximum number of subjects in memory: about 120 MB, as `npm run bench -- revocations` has measured. */
const MAX_SUBJECTS = 1_000_000;

/** How often a checkpoint is recorded at most, so that their number is bounded. */
const CHECKPOINT_MS = 3_600_000;

/**
 * The part of the revocation log that a process has read, in memory: the last entry of each subject.
 *
 * Entries of several epochs are in one order, that in which this process has seen the epochs: `order` is a number that
 * contains the index of the epoch and `seq`. A session is refused if its subject has an entry after the session's
 * position. When unsure, it is refused: a position of an unknown epoch, or none, is before every entry.
 *
 * Memory is bounded. Entries are removed when every session that they refuse has expired. Beyond
 * {@link MAX_SUBJECTS}, the older half is removed, and all sessions with a position before it are refused.
 */
export class RevokedSubjects {
  readonly #maxSubjects: number;
  /** The order of the last entry of each subject. Its iteration is in the order of the entries. */
  readonly #orders = new Map<string, number>();
  /** The epochs that this process has seen. Its last one is current. */
  readonly #epochs: string[] = [];
  #seq = 0;
  /** Sessions with a position before it are refused. */
  #floor = 0;
  /** Up to which order this process had read the log at which time, oldest first. */
  readonly #checkpoints: { readonly atMs: number; readonly order: number }[] = [];

  constructor(maxSubjects = MAX_SUBJECTS) {
    this.#maxSubjects = maxSubjects;
  }

  /** The position up to which the log was read; `null` before the first read. */
  get position(): LogPosition | null {
    const epoch = this.#epochs.at(-1);
    return epoch === undefined ? null : { epoch, seq: this.#seq };
  }

  /** A number that grows with each entry, see {@link isRevoked}. */
  get order(): number {
    return this.#epochs.length === 0 ? 0 : this.#order(this.#epochs.length, this.#seq);
  }

  /** Returns the position at an earlier value of {@link order}; the current one if nothing had been read then. */
  positionAt(order: number): LogPosition | null {
    const epoch = this.#epochs[Math.floor(order / SEQ_LIMIT) - 1];
    return epoch === undefined ? this.position : { epoch, seq: order % SEQ_LIMIT };
  }

  /** The number of subjects in memory. */
  get size(): number {
    return this.#orders.size;
  }

  /**
   * Adds what was read of the log.
   *
   * @param nowMs the time by `performance.now`
   * @returns whether there were entries
   */
  apply({ epoch, entries, end }: RevocationRead, nowMs: number): boolean {
    if (epoch !== this.#epochs.at(-1)) this.#startEpoch(epoch, end);
    for (const { subject, seq } of entries) this.#add(subject, this.#order(this.#epochs.length, seq));
    this.#seq = Math.max(this.#seq, end);
    if (entries.length > 0) this.#addCheckpoint(nowMs);
    this.#bound();
    return entries.length > 0;
  }

  /**
   * Returns whether a session was revoked.
   *
   * @param until an earlier value of {@link order}: only entries up to then count. Only the last entry of a subject is
   *   known, so of one that was revoked before and after it, this returns `false`.
   */
  isRevoked(session: CheckedSession, until = Number.POSITIVE_INFINITY): boolean {
    if (this.#orders.size === 0 && this.#floor === 0) return false;
    const { subjects, position, isBearer } = session;
    const ofSignIn = this.#orders.get(subjects.signIn);
    const order = this.#orderOf(position);
    // Whenever it was revoked: its sign-in was before.
    if (ofSignIn !== undefined && ofSignIn <= until && (!isBearer || ofSignIn > order)) return true;
    if (order < this.#floor && this.#floor <= until) return true;
    const ofUser = this.#orders.get(subjects.user) ?? -1;
    return ofUser > order && ofUser <= until;
  }

  /**
   * Returns whether a position is one that this process has not read yet, so that there is something to read. One of an
   * epoch that has been replaced is not.
   */
  isAhead(position: LogPosition): boolean {
    if (position.epoch === this.#epochs.at(-1)) return position.seq > this.#seq;
    return !this.#epochs.includes(position.epoch);
  }

  /** Records that the log was read after another process had reached this position. */
  confirm({ epoch, seq }: LogPosition): void {
    if (epoch === this.#epochs.at(-1)) this.#seq = Math.max(this.#seq, seq);
  }

  /** Removes the entries that were read more than {@link KEEP_SECONDS} ago: no session before them is valid. */
  expire(nowMs: number): void {
    let expired = 0;
    while (this.#checkpoints[0] && nowMs - this.#checkpoints[0].atMs > KEEP_SECONDS * 1000) {
      expired = this.#checkpoints.shift()?.order ?? 0;
    }
    if (expired > 0) this.#removeUpTo(expired);
  }

  #startEpoch(epoch: string, end: number): void {
    const isReturning = this.#epochs.includes(epoch);
    // An old log was restored. Positions before and after the restore have the same epoch, so none of them counts.
    if (isReturning) this.#epochs[this.#epochs.indexOf(epoch)] = "";
    this.#epochs.push(epoch);
    this.#seq = 0;
    if (!isReturning) return;
    for (const subject of [...this.#orders.keys()]) this.#add(subject, this.#order(this.#epochs.length, end));
  }

  #add(subject: string, order: number): void {
    const known = this.#orders.get(subject);
    if (known !== undefined && known >= order) return;
    this.#orders.delete(subject); // so that it is iterated last
    this.#orders.set(subject, order);
  }

  #order(epochNumber: number, seq: number): number {
    return epochNumber * SEQ_LIMIT + seq;
  }

  #orderOf(position: LogPosition | null): number {
    const index = position === null ? -1 : this.#epochs.indexOf(position.epoch);
    return position === null || index === -1 ? 0 : this.#order(index + 1, position.seq);
  }

  #addCheckpoint(atMs: number): void {
    const order = this.#order(this.#epochs.length, this.#seq);
    const previous = this.#checkpoints.at(-2);
    // The last one is replaced for an hour. Its later time errs towards keeping entries.
    if (previous && atMs - previous.atMs < CHECKPOINT_MS) this.#checkpoints.pop();
    this.#checkpoints.push({ atMs, order });
  }

  #bound(): void {
    if (this.#orders.size <= this.#maxSubjects) return;
    let excess = this.#orders.size - Math.floor(this.#maxSubjects / 2);
    for (const [subject, order] of this.#orders) {
      if (excess-- <= 0) return;
      this.#orders.delete(subject);
      this.#floor = Math.max(this.#floor, order);
    }
  }

  #removeUpTo(expired: number): void {
    for (const [subject, order] of this.#orders) {
      if (order > expired) return;
      this.#orders.delete(subject);
    }
  }
}
