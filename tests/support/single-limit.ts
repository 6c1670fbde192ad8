import { CountLimit, type Rate, type RateStore } from "../../src/rate-limit/index.ts";

/** A rate store with one limit, as most of its tests use it. */
export interface SingleLimit {
  /** Counts a call. Returns 0, or the seconds until the next call of the key is accepted. */
  take(key: string): number | Promise<number>;
}

/** Returns a rate store with one limit. Its results are promises only where those of the store are. */
export function singleLimit(store: Pick<RateStore, "take">, rate: Rate): SingleLimit {
  const limits = [new CountLimit("test", rate, "one test")];
  return {
    take(key) {
      const refusal = store.take(limits, [key]);
      if (refusal === null) return 0;
      return "limit" in refusal ? refusal.waitSeconds : refusal.then((value) => value?.waitSeconds ?? 0);
    },
  };
}
