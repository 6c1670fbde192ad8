export { clientKey } from "./client-key.ts";
export { type ConcurrencyLimit, concurrencyLimit } from "./concurrency-limit.ts";
export { type MemoryRateStore, memoryRateStore } from "./memory-store.ts";
export { openRateStore } from "./open.ts";
export type { ManagedRateStore, RateStore } from "./store.ts";
export type { Rate } from "./window.ts";
