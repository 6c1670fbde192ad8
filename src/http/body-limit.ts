/**
 * Limits how many bytes of request bodies each client has in flight: received and not yet released. Without this limit,
 * one client could fill the memory with many connections, each of which sends an accepted body and stays open.
 *
 * Only clients with bodies in flight use memory, and one more: the last one whose bodies were released.
 *
 * @see docs/protocol.md 2.7
 */
export class BodyLimit {
  /** How many bytes one client can have in flight. */
  readonly maxBytes: number;
  /** Returns the key by which a client is counted, for its address. */
  readonly keyOf: (address: string) => string;
  readonly #bytesByClient = new Map<string, number>();
  /** A client with 0 bytes that is kept: adding and deleting an entry for each request would cost more than the counting. */
  #idleKey: string | undefined;

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
    this.#bytesByClient.set(key, Math.max(0, remaining));
    if (remaining <= 0) this.#setIdle(key);
  }

  /** The number of clients that are stored. */
  get clients(): number {
    return this.#bytesByClient.size;
  }

  #setIdle(key: string): void {
    const previous = this.#idleKey;
    if (previous === key) return;
    if (previous !== undefined && this.#bytesByClient.get(previous) === 0) this.#bytesByClient.delete(previous);
    this.#idleKey = key;
  }
}
