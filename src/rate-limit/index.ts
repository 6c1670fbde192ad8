export { type ConcurrencyLimit, concurrencyLimit, STREAM_RETRY_SECONDS } from "./concurrency-limit.ts";
export { clientKey, clientNetwork, hashedKey } from "./keys.ts";
export { type MemoryRateStore, memoryRateStore } from "./memory-store.ts";
export { CountLimit, checkCount, checkRate, type Rate, retryAdvice } from "./rate.ts";
export {
  type Balance,
  type CountMode,
  type ManagedRateStore,
  type RateStore,
  type Refusal,
  StoreUnavailableError,
  type Use,
} from "./store.ts";
