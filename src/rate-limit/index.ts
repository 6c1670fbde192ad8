export { clientKey, clientNetwork } from "./client-key.ts";
export { type ConcurrencyLimit, concurrencyLimit, STREAM_RETRY_SECONDS } from "./concurrency-limit.ts";
export { type MemoryRateStore, memoryRateStore } from "./memory-store.ts";
export { openRateStore } from "./open.ts";
export { retryAdvice } from "./retry-advice.ts";
export type { ManagedRateStore, RateStore } from "./store.ts";
export type { Rate } from "./window.ts";
