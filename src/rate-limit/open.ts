import type { Log } from "../logging/index.ts";
import { openRedisConnection } from "../redis/index.ts";
import { memoryRateStore } from "./memory-store.ts";
import { redisRateStore } from "./redis-store.ts";
import { FallbackRateStore } from "./fallback-store.ts";
import type { ManagedRateStore } from "./store.ts";
import { validateRate, type Rate } from "./window.ts";

/**
 * Opens the store that calls are counted in: in this process, or, where `WEB_BUS_URL` names a Redis,
 * for all processes that use it together. Nothing is connected before its start, or its first call.
 *
 * @throws RangeError for a rate that cannot be kept
 */
export function openRateStore(rate: Rate, { busUrl, log }: { busUrl: string | undefined; log: Log }): ManagedRateStore {
  const own = memoryRateStore(validateRate(rate));
  if (!busUrl || !/^rediss?:/.test(busUrl)) {
    return { take: own.take, start: async () => undefined, close: async () => undefined };
  }
  const connection = openRedisConnection(busUrl, log);
  const store = new FallbackRateStore({ shared: redisRateStore(rate, connection), own, log });
  return {
    take: (key) => store.take(key),
    start: () => store.start(),
    async close() {
      store.close();
      await connection.close();
    },
  };
}
