export { clientKey, clientNetwork } from "./client-key.ts";
export { type ConcurrencyLimit, concurrencyLimit, STREAM_RETRY_SECONDS } from "./concurrency-limit.ts";
export { type MemoryRateStore, memoryRateStore } from "./memory-store.ts";
export { retryAdvice } from "./retry-advice.ts";
export type { ManagedRateStore, RateStore } from "./store.ts";
export { bucketMs, COUNTED_BUCKETS, type Rate, validateRate } from "./window.ts";
