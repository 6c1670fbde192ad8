import type { Counts } from "./memory-counts.ts";
import { MemoryCounts } from "./memory-counts.ts";
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

  /** Returns the counts of a limit at this time. */
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
