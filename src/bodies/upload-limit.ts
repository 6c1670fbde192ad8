/** Why bytes cannot be stored: the client, or the process, has too many. */
export type FullReason = "client" | "process";

/** The bounds of an {@link UploadLimit}. */
export interface UploadBounds {
  /** The maximum of bytes that the process stores at once. */
  readonly maxBytes: number;
  /** The maximum of bytes of one client. */
  readonly maxBytesPerClient: number;
}

/**
 * Limits how many bytes of uploads are stored at once, for each client and for the process: without it, one client could
 * fill the disk. A client without uploads uses no memory.
 *
 * @see docs/protocol.md 2.7
 */
export class UploadLimit {
  readonly bounds: UploadBounds;
  readonly #bytesByClient = new Map<string, number>();
  #bytes = 0;

  constructor(bounds: UploadBounds) {
    this.bounds = bounds;
  }

  /** Returns why bytes cannot be stored for a client now; `null` if they can. */
  whyFull(key: string, bytes: number): FullReason | null {
    if ((this.#bytesByClient.get(key) ?? 0) + bytes > this.bounds.maxBytesPerClient) return "client";
    return this.#bytes + bytes > this.bounds.maxBytes ? "process" : null;
  }

  /** Counts bytes of a client. Counts nothing, and returns why, if that would exceed a bound. */
  take(key: string, bytes: number): FullReason | null {
    const reason = this.whyFull(key, bytes);
    if (reason === null && bytes > 0) this.#add(key, bytes);
    return reason;
  }

  /** Releases bytes that were counted before. */
  release(key: string, bytes: number): void {
    if (bytes > 0) this.#add(key, -bytes);
  }

  /** The bytes that are counted, of all clients. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The number of clients with bytes. */
  get clients(): number {
    return this.#bytesByClient.size;
  }

  #add(key: string, bytes: number): void {
    const total = (this.#bytesByClient.get(key) ?? 0) + bytes;
    if (total > 0) this.#bytesByClient.set(key, total);
    else this.#bytesByClient.delete(key);
    this.#bytes += bytes;
  }
}

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
