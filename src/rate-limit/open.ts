import type { Log } from "../logging/index.ts";
import { redisAt } from "../redis/index.ts";
import { memoryRate } from "./memory.ts";
import { redisRate } from "./redis.ts";
import { SharedRate } from "./shared.ts";
import type { OpenRateStore } from "./store.ts";
import { checkRate, type Rate } from "./window.ts";

/**
 * Opens the store that calls are counted in: in this process, or, where `WEB_BUS_URL` names a Redis,
 * for all processes that use it together. Nothing is connected before its start, or its first call.
 *
 * @throws RangeError for a rate that cannot be kept
 */
export function openRate(rate: Rate, { busUrl, log }: { busUrl: string | undefined; log: Log }): OpenRateStore {
  const own = memoryRate(checkRate(rate));
  if (!busUrl || !/^rediss?:/.test(busUrl)) {
    return { take: own.take, start: async () => undefined, close: async () => undefined };
  }
  const connection = redisAt(busUrl, log);
  const store = new SharedRate({ shared: redisRate(rate, connection), own, log });
  return {
    take: (key) => store.take(key),
    start: () => store.start(),
    async close() {
      store.close();
      await connection.close();
    },
  };
}
