import {
  addCost,
  bucketAfter,
  bucketAt,
  bucketStartMs,
  COUNTED_BUCKETS,
  type Counts,
  lastCountedBucket,
  nextBucket,
  removeExpired,
} from "./window.ts";

/** How many keys one generation has. */
const MAX_KEYS = 50_000;

/** How many keys are examined to find one that can be evicted. */
const MAX_EVICTION_CHECKS = 32;

/** The key under which further keys are counted together when none can be evicted. */
const OVERFLOW_KEY = "";

/**
 * The counts of one limit in this process.
 *
 * There are two generations of keys. A generation is as long as calls count. Its keys are those that were used in it.
 * When it ends, the calls of all keys that are only in the generation before it have expired, and that one is dropped as a
 * whole. So neither a timer nor a search is needed to remove keys that are no longer used.
 *
 * Memory is bounded for any number of keys. A key can be evicted only while it has calls left, so a blocked client cannot
 * reset its count by sending from many addresses. Of the keys that are examined, the one that has used the least of its limit
 * is evicted. If none can be evicted, further keys share one count.
 */
export class MemoryCounts {
  readonly #spanMs: number;
  readonly #maxKeys: number;
  #nowMs = 0;
  #bucket = 0;
  #generationStart = 0;
  #previous = new Map<string, Counts>();
  #current = new Map<string, Counts>();
  // One iterator over the map that continues where it stopped. A new iterator for each eviction would step
  // over the empty slots of all keys that were evicted before.
  #evictionCandidates = this.#current.keys();

  constructor(spanMs: number, maxKeys = MAX_KEYS) {
    this.#spanMs = spanMs;
    this.#maxKeys = maxKeys;
  }

  /** Sets the time for the calls that follow, in whole milliseconds, and drops the counts that have expired. */
  advanceTo(timeMs: number): void {
    this.#nowMs = timeMs;
    const observed = bucketAt(timeMs, this.#spanMs);
    if (observed === this.#bucket) return;
    const next = bucketAfter(this.#bucket, observed);
    this.#bucket = next ?? observed;
    const age = this.#bucket - this.#generationStart;
    if (next === null || age >= 2 * COUNTED_BUCKETS) this.#startGeneration(new Map());
    else if (age >= COUNTED_BUCKETS) this.#startGeneration(this.#current);
  }

  /** Returns the counts of a key, without those that have expired. They change with the next call of {@link add}. */
  find(key: string, calls: number): Counts {
    const counts = this.#current.get(key) ?? this.#enter(key);
    removeExpired(counts, this.#bucket);
    counts.calls = calls;
    return counts;
  }

  /** Adds a cost to counts of {@link find}. */
  add(counts: Counts, cost: number): void {
    addCost(counts, this.#bucket, cost);
  }

  /** Returns the milliseconds until a call is accepted; 0 if it is now. */
  waitMs(counts: Counts): number {
    const next = counts.total < counts.calls ? 0 : nextBucket(counts);
    return next === 0 ? 0 : bucketStartMs(next, this.#spanMs) - this.#nowMs;
  }

  /** Returns the milliseconds until nothing counts any more. */
  resetMs(counts: Counts): number {
    const last = lastCountedBucket(counts);
    return last === 0 ? 0 : bucketStartMs(last, this.#spanMs) - this.#nowMs;
  }

  /** Whether all counts have expired at a time. */
  isEmptyAt(timeMs: number): boolean {
    return bucketAt(timeMs, this.#spanMs) - this.#bucket >= COUNTED_BUCKETS || this.#current.size === 0;
  }

  #startGeneration(kept: Map<string, Counts>): void {
    this.#previous = kept;
    this.#current = new Map();
    this.#evictionCandidates = this.#current.keys();
    this.#generationStart = this.#bucket;
  }

  /** Returns the counts of a key that was not used in this generation, and makes it a part of the generation. */
  #enter(key: string): Counts {
    const earlier = this.#previous.get(key);
    // A blocked key is not moved: it needs no place, and its calls count until this generation has ended.
    if (earlier && this.#isBlocked(earlier)) return earlier;
    const used = this.#current.size < this.#maxKeys || this.#evictOne() ? key : OVERFLOW_KEY;
    const counts = this.#current.get(used) ??
      (used === key ? earlier : this.#previous.get(used)) ?? { calls: 0, total: 0, buckets: [] };
    this.#current.set(used, counts);
    return counts;
  }

  /** Evicts a key that has calls left. Returns whether one was found. */
  #evictOne(): boolean {
    let chosen: string | undefined;
    let least = 1;
    for (let checks = 0; checks < MAX_EVICTION_CHECKS; checks++) {
      const { done, value: key } = this.#evictionCandidates.next();
      const counts = done ? undefined : this.#current.get(key);
      if (done) this.#evictionCandidates = this.#current.keys();
      if (!counts || key === OVERFLOW_KEY || this.#isBlocked(counts)) continue;
      const share = counts.total / counts.calls;
      if (share >= least) continue;
      chosen = key;
      least = share;
      if (counts.total <= 1) break; // no other key has used less
    }
    return chosen !== undefined && this.#current.delete(chosen);
  }

  #isBlocked(counts: Counts): boolean {
    removeExpired(counts, this.#bucket);
    return counts.total >= counts.calls;
  }
}
