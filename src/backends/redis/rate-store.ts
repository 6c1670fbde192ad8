import { type RedisTarget, redisKeyPrefix } from "../../config/index.ts";
import type { Logger } from "../../logging/index.ts";
import { bucketMs, COUNTED_BUCKETS, type ManagedRateStore, type Rate, type RateStore } from "../../rate-limit/index.ts";
import { defineScript, openRedisConnection, type RedisConnection, runScript } from "./client/index.ts";
import { FallbackRateStore } from "./fallback-rate-store.ts";

/**
 * Counts or refuses one call. The decision is that of `memoryRateStore`, by the functions in window.ts. As a script it
 * is atomic.
 *
 * Each client has one key. Its value is a MessagePack array: the number of a bucket, then its count, for each bucket
 * with calls, the oldest first. (With text, the script took three times as long.) The key expires when none of them
 * counts any more. A refused call writes nothing.
 *
 * KEYS: the client. ARGV: the calls of the rate, the length of a bucket in milliseconds, the number of buckets that
 * count, and in tests the time in milliseconds. Returns the wait in milliseconds; 0 if the call was counted.
 */
const TAKE = defineScript(`
local calls, length, counted, time = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
if not time then
  local now = redis.call('TIME')
  time = now[1] * 1000 + math.floor(now[2] / 1000)
end
local bucket = math.floor(time / length)

local stored = redis.call('GET', KEYS[1])
local buckets = stored and cmsgpack.unpack(stored) or {}
local size = #buckets
local latest = buckets[size - 1]
-- The clock was set back if the latest bucket is after this one: stay in it until the clock has caught up.
if latest and latest > bucket then
  if latest - bucket > counted then size = 0 else bucket = latest end
end

local first, total = 1, 0
while first < size and buckets[first] <= bucket - counted do first = first + 2 end
for at = first + 1, size, 2 do total = total + buckets[at] end

if total >= calls then
  while true do
    total = total - buckets[first + 1]
    if total < calls then return (buckets[first] + counted) * length - time end
    first = first + 2
  end
end

local kept = {unpack(buckets, first, size)}
if latest == bucket and size > 0 then
  kept[#kept] = kept[#kept] + 1
else
  kept[#kept + 1] = bucket
  kept[#kept + 1] = 1
end
local lifetime = string.format('%.0f', (bucket + counted) * length - time)
redis.call('SET', KEYS[1], cmsgpack.pack(kept), 'PX', lifetime)
return 0
`);

/** The options of {@link redisRateStore}. */
export interface RedisRateStoreOptions {
  /** The beginning of every key, for example `{shop}:`. */
  readonly keyPrefix: string;
  /**
   * Returns the time in milliseconds. By default the clock of Redis is used, so that processes with different clocks
   * agree.
   */
  readonly now?: () => number;
}

/**
 * Returns a store that counts in Redis, for all processes that use it. Each call takes one round trip.
 *
 * It decides as {@link memoryRateStore} does. Memory in Redis is bounded by the clients that called within the counted
 * buckets, since the key of each client expires.
 */
export function redisRateStore(
  rate: Rate,
  connection: RedisConnection,
  { keyPrefix, now }: RedisRateStoreOptions,
): RateStore {
  const length = String(bucketMs(rate));
  // The number of a bucket depends on its length, so rates of different lengths do not share keys.
  const prefix = `${keyPrefix}rate:${length}:`;
  const settings = [String(rate.calls), length, String(COUNTED_BUCKETS)];
  return {
    async take(client) {
      const args = now ? [...settings, String(Math.floor(now()))] : settings;
      const waitMs = await runScript(connection, TAKE, { keys: [prefix + client], args });
      if (typeof waitMs === "number") return waitMs / 1000;
      throw new Error(
        `Unexpected reply of Redis to the rate limit script: ${typeof waitMs}. Expected a number of milliseconds.`,
      );
    },
  };
}

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
