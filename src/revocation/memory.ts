import { randomBytes } from "node:crypto";
import type { LogPosition, Revocation, RevocationRead, RevocationStore } from "./store.ts";

/** Returns a store in the memory of this process, for development and tests: it forgets everything when the process ends. */
export function memoryRevocations(): RevocationStore {
  return new MemoryRevocations();
}

class MemoryRevocations implements RevocationStore {
  readonly #epoch = createLogEpoch();
  /** The `seq` of the last entry of each subject, in the order of the entries. */
  readonly #seqs = new Map<string, number>();
  #end = 0;

  async append(subject: string): Promise<void> {
    this.#seqs.delete(subject);
    this.#seqs.set(subject, ++this.#end);
  }

  read(after: LogPosition | null): RevocationRead {
    const from = after?.epoch === this.#epoch ? after.seq : 0;
    const entries: Revocation[] = [];
    for (const [subject, seq] of this.#seqs) if (seq > from) entries.push({ subject, seq });
    return { epoch: this.#epoch, entries, end: this.#end };
  }
}

/** Returns a new identifier of a log: 13 digits and lower-case letters with 64 random bits. */
export function createLogEpoch(): string {
  return randomBytes(8).readBigUInt64BE().toString(36).padStart(13, "0");
}
