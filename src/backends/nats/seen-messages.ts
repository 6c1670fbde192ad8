import { NO_MESSAGE_HASH, type StreamOffset } from "./position.ts";

/** Of how many subjects the last message is known at most. */
const MAX_SUBJECTS = 10_000;

/**
 * What this process knows of a stream in its current epoch: the messages that it has seen are stored. In a cluster, a server
 * that was frozen, or has just become the leader, can answer with an older state. Such an answer contradicts what is
 * recorded here.
 */
export class SeenMessages {
  /** The last message that this process has seen. */
  #last: StreamOffset | undefined;
  #endSeq = 0;
  /** The sequence of the last message of each subject that this process has seen, least recent first. */
  readonly #lastOfSubject = new Map<string, number>();

  /** The last message that was seen. Its hash is known. */
  get last(): StreamOffset | undefined {
    return this.#last;
  }

  /** The greatest sequence that the stream is known to have reached; 0 if none is known. */
  get endSeq(): number {
    return this.#endSeq;
  }

  /** Records a message that the server has stored. */
  record(subject: string, offset: StreamOffset): void {
    if (offset.messageHash !== NO_MESSAGE_HASH && offset.seq > (this.#last?.seq ?? 0)) this.#last = offset;
    this.recordEnd(offset.seq);
    const seq = Math.max(offset.seq, this.lastOf(subject));
    this.#lastOfSubject.delete(subject);
    this.#lastOfSubject.set(subject, seq);
    if (this.#lastOfSubject.size <= MAX_SUBJECTS) return;
    for (const oldest of this.#lastOfSubject.keys()) {
      this.#lastOfSubject.delete(oldest);
      return;
    }
  }

  /** Records that the stream has reached a sequence. */
  recordEnd(seq: number): void {
    if (seq > this.#endSeq) this.#endSeq = seq;
  }

  /** Returns the sequence of the last message of a subject that was seen; 0 if none is known. */
  lastOf(subject: string): number {
    return this.#lastOfSubject.get(subject) ?? 0;
  }
}
