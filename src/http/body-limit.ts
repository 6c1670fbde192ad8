/** Counts bytes that are held for one client. */
export interface ClientBytes {
  /** Counts bytes. Returns `false`, and counts nothing, if the client would exceed its limit. */
  take(bytes: number): boolean;
  /** Releases bytes that were counted before. */
  release(bytes: number): void;
}

/** Counts bytes by client, for example those that are in memory. A client without bytes uses no memory. */
export class ByteCounts {
  /**
   * One client with bytes, which is not in the map. Usually it is the only one, for the time of a call: adding and deleting an
   * entry of a map for each call would cost more than the counting.
   */
  #firstKey: string | undefined;
  #firstBytes = 0;
  /** The other clients with bytes. */
  readonly #bytesByClient = new Map<string, number>();

  /** Returns the bytes of a client. */
  of(key: string): number {
    if (key === this.#firstKey) return this.#firstBytes;
    return this.#bytesByClient.size === 0 ? 0 : (this.#bytesByClient.get(key) ?? 0);
  }

  /** Counts bytes of a client. Returns `false`, and counts nothing, if the client would have more than `maxBytes`. */
  take(key: string, bytes: number, maxBytes: number): boolean {
    const total = this.of(key) + bytes;
    if (total > maxBytes) return false;
    if (bytes > 0) this.#store(key, total);
    return true;
  }

  /** Releases bytes that were counted before. */
  release(key: string, bytes: number): void {
    this.#store(key, Math.max(0, this.of(key) - bytes));
  }

  /** The number of clients with bytes. */
  get clients(): number {
    return this.#bytesByClient.size + (this.#firstKey === undefined ? 0 : 1);
  }

  /** @param bytes 0 removes the client */
  #store(key: string, bytes: number): void {
    const isFirst = key === this.#firstKey || (this.#firstKey === undefined && !this.#bytesByClient.has(key));
    if (isFirst) {
      this.#firstKey = bytes > 0 ? key : undefined;
      this.#firstBytes = bytes;
    } else if (bytes > 0) this.#bytesByClient.set(key, bytes);
    else this.#bytesByClient.delete(key);
  }
}

/**
 * Limits how many bytes of request bodies each client has in flight: received and not yet released. Without this limit,
 * one client could fill the memory with many connections, each of which sends an accepted body and stays open.
 *
 * @see docs/protocol.md 2.7
 */
export class BodyLimit extends ByteCounts {
  /** How many bytes one client can have in flight. */
  readonly maxBytes: number;
  /** Returns the key by which a client is counted, for its address. */
  readonly keyOf: (address: string) => string;

  constructor(maxBytes: number, keyOf: (address: string) => string) {
    super();
    this.maxBytes = maxBytes;
    this.keyOf = keyOf;
  }

  /** Counts bytes of a client. Returns `false`, and counts nothing, if the client would exceed the limit. */
  override take(key: string, bytes: number, maxBytes = this.maxBytes): boolean {
    return super.take(key, bytes, maxBytes);
  }

  /**
   * Returns the count of the client with an address, for requests that wait. Together with its bodies, they have half of its
   * limit: otherwise those that wait could prevent the ones that are handled.
   */
  clientAt(address: string): ClientBytes {
    const key = this.keyOf(address);
    return { take: (bytes) => this.take(key, bytes, this.maxBytes / 2), release: (bytes) => this.release(key, bytes) };
  }
}

const UNITS = ["kB", "MB", "GB"] as const;

/** Returns a number of bytes as text for users, rounded down: `1 MB` for 1,048,576. */
export function formatBytes(bytes: number): string {
  let size = bytes;
  let unit: string = "bytes";
  for (const larger of UNITS) {
    if (size < 1000) break;
    size /= 1000;
    unit = larger;
  }
  return `${Math.floor(size * 10) / 10} ${unit}`;
}
