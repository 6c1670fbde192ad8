import type { Balance, CountLimit, RateStore, Refusal, Use } from "./rate.ts";

/**
 * How many limits have counts at once. Those of functions are as many as the code declares. An application that computes
 * the span of a limit could otherwise create any number.
 */
const MAX_LIMITS = 1_000;

/** A rate store that returns its results synchronously. */
export interface MemoryRateStore extends RateStore {
  take(limits: readonly CountLimit[], keys: readonly string[]): Refusal | null;
  use(limit: CountLimit, key: string, use: Pick<Use, "mode" | "cost">): Balance;
}

/** The options of {@link memoryRateStore}. */
export interface MemoryRateStoreOptions {
  /** Returns the time in milliseconds. Default: a monotonic clock. */
  readonly now?: () => number;
  /** How many keys of each limit one generation has. */
  readonly maxKeys?: number;
}

/** Returns a store that counts in this process. Memory is bounded: see {@link MemoryCounts}. */
export function memoryRateStore({ now, maxKeys }: MemoryRateStoreOptions = {}): MemoryRateStore {
  const byLimit = new Map<string, MemoryCounts>();

  const countsOf = (limit: CountLimit, timeMs: number): MemoryCounts => {
    let counts = byLimit.get(limit.id);
    if (!counts) {
      if (byLimit.size >= MAX_LIMITS) dropOne(byLimit, timeMs);
      counts = new MemoryCounts(limit.spanMs, maxKeys);
      byLimit.set(limit.id, counts);
    }
    counts.advanceTo(timeMs);
    return counts;
  };

  // What `take` has found, between its two passes. The arrays are kept, so that a call allocates nothing.
  const foundIn: MemoryCounts[] = [];
  const found: Counts[] = [];

  return {
    take(limits, keys) {
      const timeMs = Math.floor(now ? now() : performance.now());
      let refusal: Refusal | null = null;
      for (let at = 0; at < limits.length; at++) {
        const limit = limits[at] as CountLimit; // `at` is below the length
        const counts = countsOf(limit, timeMs);
        const entry = counts.find(keys[at] ?? "", limit.calls);
        foundIn[at] = counts;
        found[at] = entry;
        const waitMs = counts.waitMs(entry);
        if (waitMs > 0 && waitMs / 1000 > (refusal?.waitSeconds ?? 0)) refusal = { waitSeconds: waitMs / 1000, limit };
      }
      if (refusal) return refusal;
      for (let at = 0; at < limits.length; at++) foundIn[at]?.add(found[at] as Counts, 1); // set above
      return null;
    },

    use(limit, key, { mode, cost }) {
      const counts = countsOf(limit, Math.floor(now ? now() : performance.now()));
      const entry = counts.find(key, limit.calls);
      const isCounted = mode === "charge" || (mode === "check" && entry.total < entry.calls);
      if (isCounted && cost > 0) counts.add(entry, cost);
      return {
        left: Math.max(0, limit.calls - entry.total),
        waitSeconds: counts.waitMs(entry) / 1000,
        resetSeconds: counts.resetMs(entry) / 1000,
        isCounted,
      };
    },
  };
}

/** Drops the counts of one limit: if possible of one under which nothing counts any more, otherwise the oldest. */
function dropOne(byLimit: Map<string, MemoryCounts>, timeMs: number): void {
  const [oldest] = byLimit.keys();
  for (const [id, counts] of byLimit) {
    if (!counts.isEmptyAt(timeMs)) continue;
    byLimit.delete(id);
    return;
  }
  if (oldest !== undefined) byLimit.delete(oldest);
}

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
class MemoryCounts {
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

// The arithmetic of the sliding window (docs/protocol.md 9.2): every store computes the same from the same time.

/** The number of buckets that a span is divided into. */
const BUCKETS_PER_SPAN = 60;

/**
 * The number of buckets that count: the running one, and those of a whole span before it. Together they contain every
 * call of the last span, whatever part of the running bucket has passed.
 */
const COUNTED_BUCKETS = BUCKETS_PER_SPAN + 1;

/** Returns the number of the bucket that a time is in. Times and spans are whole milliseconds, so that it is exact. */
function bucketAt(timeMs: number, spanMs: number): number {
  return Math.floor((timeMs * BUCKETS_PER_SPAN) / spanMs);
}

/** Returns the first whole millisecond of a bucket. */
function bucketStartMs(bucket: number, spanMs: number): number {
  return Math.ceil((bucket * spanMs) / BUCKETS_PER_SPAN);
}

/**
 * Returns the bucket to count in, if the time of a bucket has come while the latest one that was counted in is known.
 * When the clock is set back, that is the latest one, until the clock has caught up: no call counts for less time than
 * the span. If the clock is set back further than the counted buckets, the latest one means nothing any more.
 *
 * @returns `null` if all earlier counts have to be dropped
 */
function bucketAfter(latest: number, bucket: number): number | null {
  if (bucket >= latest) return bucket;
  return latest - bucket > COUNTED_BUCKETS ? null : latest;
}

/** What was counted under one key. */
export interface Counts {
  /** The limit that the key was last checked against. */
  calls: number;
  /** The sum of the counts. */
  total: number;
  /** The number of a bucket, then its count, for each bucket with calls, the oldest first. */
  readonly buckets: number[];
}

/** Removes the counts of buckets that no longer count when `bucket` is the running one. */
function removeExpired(counts: Counts, bucket: number): void {
  const { buckets } = counts;
  let end = 0;
  for (; end < buckets.length && (buckets[end] ?? 0) <= bucket - COUNTED_BUCKETS; end += 2) {
    counts.total -= buckets[end + 1] ?? 0;
  }
  if (end > 0) buckets.splice(0, end);
}

/**
 * Adds a cost to the running bucket, which is not before the last bucket with calls. The sum stays a safe integer, of which
 * every cost can be subtracted exactly: what a cost would add to that has no effect, since the key is far above its limit.
 */
function addCost(counts: Counts, bucket: number, cost: number): void {
  const { buckets, total } = counts;
  const last = buckets.length - 2;
  const added = Math.min(cost, Number.MAX_SAFE_INTEGER - total);
  counts.total = total + added;
  if (buckets[last] === bucket) buckets[last + 1] = (buckets[last + 1] ?? 0) + added;
  else buckets.push(bucket, added);
}

/**
 * Returns when the next call is accepted, after {@link removeExpired}: the number of the bucket at whose start enough of the
 * counted calls no longer count. 0 means now.
 */
function nextBucket({ total, calls, buckets }: Counts): number {
  let remaining = total;
  let next = 0;
  for (let at = 0; remaining >= calls; at += 2) {
    remaining -= buckets[at + 1] ?? remaining;
    next = (buckets[at] ?? 0) + COUNTED_BUCKETS;
  }
  return next;
}

/** Returns the bucket at whose start nothing counts any more, after {@link removeExpired}; 0 if nothing does now. */
function lastCountedBucket({ buckets }: Counts): number {
  const last = buckets.at(-2);
  return last === undefined ? 0 : last + COUNTED_BUCKETS;
}
