import { type RedisTarget, redisKeyPrefix } from "../../config/index.ts";
import type { Logger } from "../../logging/index.ts";
import type { ManagedRateStore, Rate, RateStore } from "../../rate-limit/index.ts";
import { openRedisConnection } from "./client/index.ts";
import { FallbackRateStore } from "./fallback-rate-store.ts";
import { redisRateStore } from "./rate-store.ts";

/** The options of {@link openSharedStore}. */
export interface SharedStoreOptions {
  readonly target: RedisTarget;
  /** Counts in this process while Redis is slow or unreachable. */
  readonly local: RateStore;
  /** Writes outside of requests: the store is opened by the first one. */
  readonly log: Logger;
}

/** Opens the store in which processes count together, in Redis. It connects when it is started or at the first call. */
export function openSharedStore(rate: Rate, { target, local, log }: SharedStoreOptions): ManagedRateStore {
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
