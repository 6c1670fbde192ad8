import { OUTCOME_MS, type OutcomeStore } from "../bus/index.ts";

/** The memory of all records, in bytes. The oldest ones are dropped above it. */
const MAX_BYTES = 64 * 1024 * 1024;

/** What a record takes besides its text, in bytes. */
const RECORD_BYTES = 256;

/** The outcomes of idempotent functions in the memory of this process. */
export class MemoryOutcomes implements OutcomeStore {
  /** The oldest one first. */
  readonly #records = new Map<string, { readonly text: string; readonly expiresAtMs: number }>();
  readonly #now: () => number;
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(now: () => number, maxBytes = MAX_BYTES) {
    this.#now = now;
    this.#maxBytes = maxBytes;
  }

  /** The memory of all records, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  async claim(key: string, text: string): Promise<string | null> {
    this.#expire();
    const record = this.#records.get(key);
    if (record) return record.text;
    this.#set(key, text);
    return null;
  }

  async write(key: string, text: string): Promise<void> {
    this.#expire();
    this.#set(key, text);
  }

  async remove(key: string): Promise<void> {
    const record = this.#records.get(key);
    if (record && this.#records.delete(key)) this.#bytes -= sizeOf(record.text);
  }

  #set(key: string, text: string): void {
    void this.remove(key); // it is removed at once
    this.#records.set(key, { text, expiresAtMs: this.#now() + OUTCOME_MS });
    this.#bytes += sizeOf(text);
    for (const oldest of this.#records.keys()) {
      if (this.#bytes <= this.#maxBytes) return;
      void this.remove(oldest);
    }
  }

  #expire(): void {
    for (const [key, { expiresAtMs }] of this.#records) {
      if (expiresAtMs > this.#now()) return;
      void this.remove(key);
    }
  }
}

function sizeOf(text: string): number {
  return RECORD_BYTES + 2 * text.length;
}
