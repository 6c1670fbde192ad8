import type { Logger } from "../logging/index.ts";
import { openRedisConnection } from "../redis/index.ts";
import { FallbackRateStore } from "./fallback-store.ts";
import { memoryRateStore } from "./memory-store.ts";
import { redisRateStore } from "./redis-store.ts";
import type { ManagedRateStore } from "./store.ts";
import { type Rate, validateRate } from "./window.ts";

/**
 * Opens the store that counts the calls of an application. If `WEB_BUS_URL` names a Redis, all processes
 * that use it share the counts; otherwise this process counts for itself. The store connects when it is
 * started or at the first call.
 *
 * @throws RangeError if the rate is not valid
 * @see docs/protocol.md 9.4
 */
export function openRateStore(
  rate: Rate,
  { busUrl, log }: { busUrl: string | undefined; log: Logger },
): ManagedRateStore {
  const local = memoryRateStore(validateRate(rate));
  if (!busUrl || !/^rediss?:/.test(busUrl)) {
    return { take: local.take, start: async () => undefined, close: async () => undefined };
  }
  const connection = openRedisConnection(busUrl, log);
  const store = new FallbackRateStore({ shared: redisRateStore(rate, connection), local, log });
  return {
    take: (key) => store.take(key),
    start: () => store.start(),
    async close() {
      store.close();
      await connection.close();
    },
  };
}
