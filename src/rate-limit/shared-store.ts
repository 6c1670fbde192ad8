import { type RedisTarget, redisKeyPrefix } from "../config/index.ts";
import { backgroundLog, type Logger } from "../logging/index.ts";
import { openRedisConnection } from "../redis/index.ts";
import { FallbackRateStore } from "./fallback-store.ts";
import { redisRateStore } from "./redis-store.ts";
import type { ManagedRateStore, RateStore } from "./store.ts";
import type { Rate } from "./window.ts";

/** The options of {@link openSharedStore}. */
export interface SharedStoreOptions {
  readonly target: RedisTarget;
  /** Counts in this process while Redis is slow or unreachable. */
  readonly local: RateStore;
  readonly log: Logger;
}

/** Opens the store in which processes count together, in Redis. It connects when it is started or at the first call. */
export function openSharedStore(rate: Rate, { target, local, ...options }: SharedStoreOptions): ManagedRateStore {
  const log = backgroundLog(options.log);
  const keyPrefix = redisKeyPrefix(target.namespace);
  const connection = openRedisConnection(target.url, log, keyPrefix);
  const store = new FallbackRateStore({ shared: redisRateStore(rate, connection, { keyPrefix }), local, log });
  return {
    take: (key) => store.take(key),
    start: () => store.start(),
    async close() {
      store.close();
      await connection.close();
    },
  };
}
