import type { RateStore } from "./store.ts";
import { type Rate, retryAfterSeconds } from "./window.ts";

/** How many clients are counted separately in one window. At 100 bytes each, two windows take about 20 MB. */
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
 * Returns a store that counts in this process. It has one map for the current window and one for the
 * previous window, so that no timer is needed to expire counts.
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
  const windowMs = rate.seconds * 1000;
  let window = 0;
  let previous = new Map<string, number>();
  let current = new Map<string, number>();

  /** Moves to the window of a time. Returns the part of that window which has passed, from 0 to 1. */
  const advanceTo = (timeMs: number): number => {
    const index = Math.floor(timeMs / windowMs);
    // The clock was set back across the start of the window: stay at the start until it has caught up.
    if (index === window - 1) return 0;
    if (index !== window) startWindow(index);
    return (timeMs % windowMs) / windowMs;
  };

  const startWindow = (index: number) => {
    previous = index === window + 1 ? current : new Map();
    current = new Map();
    evictionCandidates = current.keys();
    window = index;
  };

  const waitOf = (key: string, elapsed: number) =>
    retryAfterSeconds({ previous: previous.get(key) ?? 0, current: current.get(key) ?? 0, elapsed }, rate);

  // One iterator over the map that continues where it stopped. A new iterator for each eviction would step
  // over the empty slots of all clients that were evicted before.
  let evictionCandidates = current.keys();

  /** Evicts one client that has calls left. Returns whether one was found. */
  const evictOne = (elapsed: number): boolean => {
    for (let checks = 0; checks < MAX_EVICTION_CHECKS; checks++) {
      const { done, value: key } = evictionCandidates.next();
      if (done) evictionCandidates = current.keys();
      else if (key !== OVERFLOW_KEY && waitOf(key, elapsed) === 0) return current.delete(key);
    }
    return false;
  };

  return {
    take(client) {
      const elapsed = advanceTo(now());
      const isCounted = current.has(client);
      const key = isCounted || current.size < maxClients || evictOne(elapsed) ? client : OVERFLOW_KEY;
      const wait = waitOf(key, elapsed);
      if (wait === 0) current.set(key, (current.get(key) ?? 0) + 1);
      return wait;
    },
  };
}
