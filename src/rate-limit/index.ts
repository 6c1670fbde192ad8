export { clientKey, clientNetwork } from "./client-key.ts";
export { type ConcurrencyLimit, concurrencyLimit, STREAM_RETRY_SECONDS } from "./concurrency-limit.ts";
export { hashedKey } from "./hashed-key.ts";
export { type MemoryRateStore, memoryRateStore } from "./memory-store.ts";
export { CountLimit, checkCount, checkRate, type Rate } from "./rate.ts";
export { retryAdvice } from "./retry-advice.ts";
export {
  type Balance,
  type CountMode,
  type ManagedRateStore,
  type RateStore,
  type Refusal,
  StoreUnavailableError,
  type Use,
} from "./store.ts";
