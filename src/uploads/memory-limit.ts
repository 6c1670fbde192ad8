/**
 * Limits how many bytes of the bodies of routes one client has in memory at once. The maximum depends on the route. A
 * client without such bodies uses no memory.
 *
 * @see docs/protocol.md 2.7
 */
export class MemoryLimit {
  readonly #bytesByClient = new Map<string, number>();

  /**
   * Counts bytes of a client. Returns `false`, and counts nothing, if the client would have too many.
   *
   * @param maxBytes the maximum of all bytes of the client
   */
  take(key: string, bytes: number, maxBytes: number): boolean {
    const total = (this.#bytesByClient.get(key) ?? 0) + bytes;
    if (total > maxBytes) return false;
    if (total > 0) this.#bytesByClient.set(key, total);
    return true;
  }

  /** Releases bytes that were counted before. */
  release(key: string, bytes: number): void {
    const total = (this.#bytesByClient.get(key) ?? 0) - bytes;
    if (total > 0) this.#bytesByClient.set(key, total);
    else this.#bytesByClient.delete(key);
  }

  /** The number of clients with bytes. */
  get clients(): number {
    return this.#bytesByClient.size;
  }
}
