export { type ConcurrencyLimit, concurrencyLimit, STREAM_RETRY_SECONDS } from "./concurrency-limit.ts";
export { clientKey, clientNetwork, hashedKey } from "./keys.ts";
export { type MemoryRateStore, memoryRateStore } from "./memory-store.ts";
export {
  type Balance,
  CountLimit,
  type CountMode,
  checkCount,
  checkRate,
  type ManagedRateStore,
  outcomeBytes,
  type Rate,
  type RateStore,
  type Refusal,
  retryAdvice,
  StoreUnavailableError,
  type Use,
} from "./rate.ts";
