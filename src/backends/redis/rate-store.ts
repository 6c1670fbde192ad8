import { type RedisTarget, redisKeyPrefix } from "../../config/index.ts";
import type { Logger } from "../../logging/index.ts";
import type { Balance, CountLimit, ManagedRateStore, MemoryRateStore, RateStore } from "../../rate-limit/index.ts";
import { defineScript, openRedisConnection, type RedisConnection, runScript } from "./client/index.ts";
import { FallbackRateStore } from "./fallback-rate-store.ts";

/**
 * The functions that both scripts share. The decisions are those of `memoryRateStore`, by the functions in memory-counts.ts.
 *
 * Each key has a MessagePack array: the number of a bucket, then its count, for each bucket with calls, the oldest first.
 * (With text, the script took three times as long.) The key expires when none of them counts any more.
 *
 * `load` returns the running bucket, what is stored, where the counts begin that still count, their end, and their sum.
 * `wait` returns the milliseconds until something is left. `store` adds a cost to the running bucket.
 */
const COMMON = `
local function read_clock(time)
  if time then return time end
  local now = redis.call('TIME')
  return now[1] * 1000 + math.floor(now[2] / 1000)
end

local function load(key, span, time)
  local bucket = math.floor(time * 60 / span)
  local stored = redis.call('GET', key)
  if not stored then return bucket, {}, 1, 0, 0 end
  local buckets = cmsgpack.unpack(stored)
  local size, first, total = #buckets, 1, 0
  local latest = buckets[size - 1]
  -- The clock was set back if the latest bucket is after this one: stay in it until the clock has caught up.
  if latest > bucket then
    if latest - bucket > 61 then size = 0 else bucket = latest end
  end
  while first < size and buckets[first] <= bucket - 61 do first = first + 2 end
  for at = first + 1, size, 2 do total = total + buckets[at] end
  return bucket, buckets, first, size, total
end

local function ends(bucket, span, time)
  return math.ceil((bucket + 61) * span / 60) - time
end

local function wait(calls, span, time, buckets, first, total)
  local free = nil
  while total >= calls do
    total = total - buckets[first + 1]
    free = buckets[first]
    first = first + 2
  end
  return free and ends(free, span, time) or 0
end

local function store(key, span, time, bucket, buckets, first, size, cost)
  local kept = first == 1 and size == #buckets and buckets or {unpack(buckets, first, size)}
  local last = #kept
  if last > 0 and kept[last - 1] == bucket then
    kept[last] = kept[last] + cost
  else
    kept[last + 1] = bucket
    kept[last + 2] = cost
  end
  redis.call('SET', key, cmsgpack.pack(kept), 'PX', string.format('%.0f', ends(bucket, span, time)))
end
`;

/**
 * Counts one call under each key, or none of them if one has nothing left. A refused call writes nothing.
 *
 * KEYS: the counts. ARGV: the time in milliseconds in tests, otherwise empty; then for each key the calls of its limit and
 * the span in milliseconds. Returns 0 if the call was counted; otherwise the longest wait in milliseconds, and the number of
 * its key.
 */
const TAKE = defineScript(`${COMMON}
local time = read_clock(tonumber(ARGV[1]))
local longest, refused = 0, 0
local loaded = {}
for at = 1, #KEYS do
  local calls, span = tonumber(ARGV[2 * at]), tonumber(ARGV[2 * at + 1])
  local bucket, buckets, first, size, total = load(KEYS[at], span, time)
  if total >= calls then
    local ms = wait(calls, span, time, buckets, first, total)
    if ms > longest then longest, refused = ms, at end
  end
  loaded[at] = {span, bucket, buckets, first, size}
end
if refused > 0 then return {longest, refused} end
for at = 1, #KEYS do
  local span, bucket, buckets, first, size = unpack(loaded[at])
  store(KEYS[at], span, time, bucket, buckets, first, size, 1)
end
return 0
`);

/**
 * Counts a cost under one key.
 *
 * KEYS: the count. ARGV: the time as for `TAKE`, the calls of the limit, the span in milliseconds, the cost, the mode.
 * Returns the sum as text, since a reply has no larger number than 2^63, the milliseconds until something is left, those until
 * nothing counts any more, and 1 if the cost was counted.
 */
const USE = defineScript(`${COMMON}
local time, key = read_clock(tonumber(ARGV[1])), KEYS[1]
local calls, span, cost, mode = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]
local bucket, buckets, first, size, total = load(key, span, time)
local counted = mode == 'charge' or mode == 'check' and total < calls
if counted and cost > 0 then
  -- As addCost in memory-counts.ts: all sums stay exact.
  store(key, span, time, bucket, buckets, first, size, math.min(cost, 9007199254740991 - total))
  bucket, buckets, first, size, total = load(key, span, time)
end
local latest = size > first and buckets[size - 1]
return {
  string.format('%.0f', total),
  wait(calls, span, time, buckets, first, total),
  latest and ends(latest, span, time) or 0,
  counted and 1 or 0,
}
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
 * Returns a store that counts in Redis, for all processes that use it. Each operation takes one round trip.
 *
 * It decides as `memoryRateStore` does. Memory in Redis is bounded by the keys that were used within the counted
 * buckets, since each expires.
 */
export function redisRateStore(connection: RedisConnection, { keyPrefix, now }: RedisRateStoreOptions): RateStore {
  // Until now, other versions have named their counts `rate:`. With another algorithm, none is shared.
  const keyOf = (limit: CountLimit, key: string) => `${keyPrefix}limit:${limit.id}:${key}`;
  const time = () => (now ? String(Math.floor(now())) : "");
  return {
    async take(limits, keys) {
      const args = [time()];
      for (const limit of limits) args.push(...limit.args);
      const names = limits.map((limit, at) => keyOf(limit, keys[at] ?? ""));
      const reply = await runScript(connection, TAKE, { keys: names, args });
      if (reply === 0) return null;
      const [waitMs, at] = Array.isArray(reply) ? reply : [];
      const limit = limits[Number(at) - 1];
      if (typeof waitMs !== "number" || !limit) throw unexpectedReply(reply);
      return { waitSeconds: waitMs / 1000, limit };
    },
    async use(limit, key, { mode, cost }) {
      const args = [time(), ...limit.args, String(cost), mode];
      const reply = await runScript(connection, USE, { keys: [keyOf(limit, key)], args });
      return parseBalance(reply, limit);
    },
  };
}

function parseBalance(reply: unknown, { calls }: CountLimit): Balance {
  const [total, waitMs, resetMs, counted] = Array.isArray(reply) ? reply : [];
  if (typeof waitMs !== "number" || typeof resetMs !== "number" || typeof total !== "string") {
    throw unexpectedReply(reply);
  }
  return {
    left: Math.max(0, calls - Number(total)),
    waitSeconds: waitMs / 1000,
    resetSeconds: resetMs / 1000,
    isCounted: counted === 1,
  };
}

function unexpectedReply(reply: unknown): Error {
  return new Error(`Unexpected reply of Redis to the rate limit script: ${typeof reply}. Expected numbers.`);
}

/** The options of {@link openSharedStore}. */
export interface SharedStoreOptions {
  readonly target: RedisTarget;
  /** Counts in this process while Redis is slow or unreachable. */
  readonly local: MemoryRateStore;
  /** Writes outside of requests: the store is opened by the first one. */
  readonly log: Logger;
}

/** Opens the store in which processes count together, in Redis. It connects when it is started or at the first call. */
export function openSharedStore({ target, local, log }: SharedStoreOptions): ManagedRateStore {
  const keyPrefix = redisKeyPrefix(target.namespace);
  const { connection, close } = openRedisConnection(target.url, log, keyPrefix);
  const store = new FallbackRateStore({ shared: redisRateStore(connection, { keyPrefix }), local, log });
  return {
    take: (limits, keys) => store.take(limits, keys),
    use: (limit, key, use) => store.use(limit, key, use),
    start: () => store.start(),
    async close() {
      store.close();
      await close();
    },
  };
}
