import { ByteCounts } from "../http/index.ts";

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
  readonly #counts = new ByteCounts();
  #bytes = 0;

  constructor(bounds: UploadBounds) {
    this.bounds = bounds;
  }

  /** Returns why bytes cannot be stored for a client now; `null` if they can. */
  whyFull(key: string, bytes: number): FullReason | null {
    if (this.#counts.of(key) + bytes > this.bounds.maxBytesPerClient) return "client";
    return this.#bytes + bytes > this.bounds.maxBytes ? "process" : null;
  }

  /** Counts bytes of a client. Counts nothing, and returns why, if that would exceed a bound. */
  take(key: string, bytes: number): FullReason | null {
    const reason = this.whyFull(key, bytes);
    if (reason !== null) return reason;
    this.#counts.take(key, bytes, this.bounds.maxBytesPerClient);
    this.#bytes += bytes;
    return null;
  }

  /** Releases bytes that were counted before. */
  release(key: string, bytes: number): void {
    this.#counts.release(key, bytes);
    this.#bytes -= bytes;
  }

  /** The bytes that are counted, of all clients. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The number of clients with bytes. */
  get clients(): number {
    return this.#counts.clients;
  }
}
