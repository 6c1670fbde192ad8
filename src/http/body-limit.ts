/**
 * Limits how many bytes of request bodies each client has in flight: received and not yet released. Without this limit,
 * one client could fill the memory with many connections, each of which sends an accepted body and stays open.
 *
 * A client without bodies in flight uses no memory.
 *
 * @see docs/protocol.md 2.7
 */
export class BodyLimit {
  /** How many bytes one client can have in flight. */
  readonly maxBytes: number;
  /** Returns the key by which a client is counted, for its address. */
  readonly keyOf: (address: string) => string;
  readonly #bytesByClient = new Map<string, number>();

  constructor(maxBytes: number, keyOf: (address: string) => string) {
    this.maxBytes = maxBytes;
    this.keyOf = keyOf;
  }

  /** Counts bytes of a client. Returns `false`, and counts nothing, if the client would exceed the limit. */
  take(key: string, bytes: number): boolean {
    const total = (this.#bytesByClient.get(key) ?? 0) + bytes;
    if (total > this.maxBytes) return false;
    if (bytes > 0) this.#bytesByClient.set(key, total);
    return true;
  }

  /** Releases bytes that were counted before. */
  release(key: string, bytes: number): void {
    const remaining = (this.#bytesByClient.get(key) ?? 0) - bytes;
    if (remaining > 0) this.#bytesByClient.set(key, remaining);
    else this.#bytesByClient.delete(key);
  }

  /** The number of clients that have bodies in flight. */
  get clients(): number {
    return this.#bytesByClient.size;
  }
}
