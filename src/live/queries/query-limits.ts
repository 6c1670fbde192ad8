/** What bounds the queries of all applications of a process: the runs in progress, and the size of the values. */

/**
 * How many runs of queries a process has in progress at most, for all its applications: they share its processor and, mostly, one
 * database.
 */
export const MAX_RUNS = 16;

/**
 * The runs of queries that may be in progress at the same time. The queries take turns: one that runs for each of many sign-ins
 * does not delay the others for longer than a run.
 */
export class RunSlots {
  readonly #max: number;
  #used = 0;
  /** The runs that wait, by query, each as the function that begins it; the query whose turn is next comes first. */
  readonly #waiting = new Map<string, (() => void)[]>();

  constructor(max: number) {
    this.#max = max;
  }

  /** The number of runs in progress. */
  get used(): number {
    return this.#used;
  }

  /**
   * Calls `begin` when the run may begin: at once if there is room. The caller calls {@link release} when the run has ended.
   *
   * @param query the id of its query
   * @param begin another function for each run
   * @returns a function that gives up the wait; it has no effect once `begin` was called
   */
  acquire(query: string, begin: () => void): () => void {
    if (this.#used < this.#max) {
      this.#used++;
      begin();
      return () => undefined;
    }
    const queue = this.#waiting.get(query) ?? [];
    this.#waiting.set(query, queue);
    queue.push(begin);
    return () => {
      const index = queue.indexOf(begin);
      if (index >= 0) queue.splice(index, 1);
      if (queue.length === 0 && this.#waiting.get(query) === queue) this.#waiting.delete(query);
    };
  }

  /** Ends a run: the next one begins. */
  release(): void {
    this.#used--;
    const [next] = this.#waiting;
    if (!next) return;
    const [query, queue] = next;
    const begin = queue.shift();
    this.#waiting.delete(query);
    if (queue.length > 0) this.#waiting.set(query, queue); // behind the others
    this.#used++;
    begin?.();
  }
}

/** Lives as long as the process, whose runs it bounds. */
export const processSlots = new RunSlots(MAX_RUNS);

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
