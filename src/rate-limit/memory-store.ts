import type { RateStore } from "./store.ts";
import {
  bucketAfter,
  bucketMs,
  type CallCounts,
  COUNTED_BUCKETS,
  countCall,
  nextBucket,
  type Rate,
  removeExpired,
} from "./window.ts";

/** How many clients one generation has. At up to 400 bytes each, two generations take at most 80 MB. */
const MAX_CLIENTS = 100_000;

/** How many clients are examined to find one that can be evicted. */
const MAX_EVICTION_CHECKS = 32;

/** The key under which further clients are counted together when no client can be evicted. */
const OVERFLOW_KEY = "";

/** A rate store that returns its result synchronously. */
export interface MemoryRateStore extends RateStore {
  take(key: string): number;
}

/**
 * Returns a store that counts in this process.
 *
 * It has two generations of clients. A generation is as long as calls count. Its clients are those that called in it.
 * When it ends, the calls of all clients that are only in the generation before it have expired, and that one is dropped as a
 * whole. So neither a timer nor a search is needed to remove idle clients.
 *
 * Memory is bounded for any number of addresses. A client can be evicted only while it has calls left, so
 * a blocked client cannot reset its count by sending from many addresses. If no client can be evicted,
 * further clients share one count.
 *
 * @param now returns the time in milliseconds; by default a monotonic clock
 */
export function memoryRateStore(
  rate: Rate,
  now: () => number = () => performance.now(),
  maxClients = MAX_CLIENTS,
): MemoryRateStore {
  const lengthMs = bucketMs(rate);
  let bucket = 0;
  let generationStart = 0;
  let previous = new Map<string, CallCounts>();
  let current = new Map<string, CallCounts>();
  // One iterator over the map that continues where it stopped. A new iterator for each eviction would step
  // over the empty slots of all clients that were evicted before.
  let evictionCandidates = current.keys();

  const startGeneration = (kept: Map<string, CallCounts>) => {
    previous = kept;
    current = new Map();
    evictionCandidates = current.keys();
    generationStart = bucket;
  };

  const advanceTo = (timeMs: number) => {
    const observed = Math.floor(timeMs / lengthMs);
    const next = bucketAfter(bucket, observed);
    bucket = next ?? observed;
    const age = bucket - generationStart;
    if (next === null || age >= 2 * COUNTED_BUCKETS) startGeneration(new Map());
    else if (age >= COUNTED_BUCKETS) startGeneration(current);
  };

  /** Returns the bucket in which a client may call again; 0 if it may call now. */
  const nextBucketOf = (counts: CallCounts) => {
    removeExpired(counts, bucket);
    return nextBucket(counts, rate.calls);
  };

  /** Evicts one client that has calls left. Returns whether one was found. */
  const evictOne = (): boolean => {
    for (let checks = 0; checks < MAX_EVICTION_CHECKS; checks++) {
      const { done, value: key } = evictionCandidates.next();
      if (done) evictionCandidates = current.keys();
      else if (key !== OVERFLOW_KEY && nextBucketOf(current.get(key) ?? NO_CALLS) === 0) return current.delete(key);
    }
    return false;
  };

  /** Returns the counts of a client that has not called in this generation, and makes it a part of the generation. */
  const enter = (client: string): CallCounts => {
    const earlier = previous.get(client);
    // A blocked client is not moved: it needs no place, and its calls count until this generation has ended.
    if (earlier && nextBucketOf(earlier) > 0) return earlier;
    const key = current.size < maxClients || evictOne() ? client : OVERFLOW_KEY;
    const counts = current.get(key) ?? (key === client ? earlier : previous.get(key)) ?? { total: 0, buckets: [] };
    current.set(key, counts);
    return counts;
  };

  return {
    take(client) {
      const timeMs = Math.floor(now());
      advanceTo(timeMs);
      const counts = current.get(client) ?? enter(client);
      const next = nextBucketOf(counts);
      if (next > 0) return (next * lengthMs - timeMs) / 1000;
      countCall(counts, bucket);
      return 0;
    },
  };
}

/** The counts of a client without calls. */
const NO_CALLS: CallCounts = { total: 0, buckets: [] };
