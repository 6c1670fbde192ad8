/** The maximum size of the values of all queries of a process, in bytes of JSON. */
const MAX_CACHE_BYTES = 64 * 1024 * 1024;

/** What an entry takes besides its value, in bytes: so that many small ones are bounded, too. */
const ENTRY_BYTES = 2_048;

/** Has a value that can be dropped. */
export interface CacheEntry {
  /** Whether somebody receives the value. */
  readonly isUsed: boolean;
  /** Drops the value. It is not in the cache any more. */
  drop(): void;
}

/**
 * The values of queries. Above the maximum size, those that nobody receives are dropped first, the least recently used one before
 * the others; then those that somebody receives, which are computed again when a page needs them whole.
 */
export class ValueCache {
  readonly #maxBytes: number;
  #bytes = 0;
  /** The sizes of the entries, the least recently used one first. */
  readonly #unused = new Map<CacheEntry, number>();
  readonly #used = new Map<CacheEntry, number>();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The size of all entries. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds an entry, or notes that its value was replaced. */
  set(entry: CacheEntry, valueBytes: number): void {
    this.delete(entry);
    const bytes = valueBytes + ENTRY_BYTES;
    (entry.isUsed ? this.#used : this.#unused).set(entry, bytes);
    this.#bytes += bytes;
    while (this.#bytes > this.#maxBytes) {
      const [oldest] = this.#unused.size > 0 ? this.#unused.keys() : this.#used.keys();
      if (!oldest) return;
      this.delete(oldest);
      oldest.drop();
    }
  }

  /** Notes that an entry was used, or that {@link CacheEntry.isUsed} has changed. */
  touch(entry: CacheEntry): void {
    const bytes = this.#used.get(entry) ?? this.#unused.get(entry);
    if (bytes === undefined) return;
    this.#used.delete(entry);
    this.#unused.delete(entry);
    (entry.isUsed ? this.#used : this.#unused).set(entry, bytes);
  }

  delete(entry: CacheEntry): void {
    this.#bytes -= this.#used.get(entry) ?? this.#unused.get(entry) ?? 0;
    this.#used.delete(entry);
    this.#unused.delete(entry);
  }
}

/** Lives as long as the process, whose memory it bounds. */
export const processCache = new ValueCache(MAX_CACHE_BYTES);
