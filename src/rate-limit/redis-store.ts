import { defineScript, type RedisConnection, runScript } from "../redis/index.ts";
import type { RateStore } from "./store.ts";
import type { Rate } from "./window.ts";

/**
 * Counts or refuses one call. The decision is that of `retryAfterSeconds` in window.ts, with the same
 * floating-point arithmetic. As a script it is atomic.
 *
 * Each client has one key, so that the script runs in a Redis cluster too. Its value is the number of a
 * window, the calls in the window before it and the calls in it. The key expires when neither counts any
 * more. A refused call writes nothing. The wait is returned as a string, because Redis truncates numbers
 * in replies to integers.
 *
 * KEYS: the client. ARGV: the calls and seconds of the rate, and in tests the time in milliseconds.
 */
const TAKE = defineScript(`
local calls, seconds, time = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
if not time then
  local now = redis.call('TIME')
  time = now[1] * 1000 + math.floor(now[2] / 1000)
end
local span = seconds * 1000
local window = math.floor(time / span)
local passed = math.fmod(time, span)
local elapsed = passed / span

local previous, current = 0, 0
local stored = redis.call('GET', KEYS[1])
if stored then
  local stored_window, before, within = string.match(stored, '^(%d+) (%d+) (%d+)$')
  -- The clock was set back across the start of the window: stay at the start until it has caught up.
  if tonumber(stored_window) == window + 1 then
    window, passed, elapsed = window + 1, 0, 0
  end
  if tonumber(stored_window) == window then
    previous, current = tonumber(before), tonumber(within)
  elseif tonumber(stored_window) == window - 1 then
    previous = tonumber(within)
  end
end

local wait = 0
if previous * (1 - elapsed) + current + 1 > calls then
  local remaining = calls - 1 - current
  if remaining >= 0 then
    wait = seconds * (1 - remaining / previous - elapsed)
  else
    wait = seconds * (1 - elapsed + 1 - (calls - 1) / current)
  end
end
if wait == 0 then
  local value = string.format('%.0f %.0f %.0f', window, previous, current + 1)
  redis.call('SET', KEYS[1], value, 'PX', string.format('%.0f', math.ceil(span * 2 - passed)))
end
return string.format('%.17g', wait)
`);

/**
 * Returns a store that counts in Redis, for all processes that use it. Each call takes one round trip.
 *
 * It decides as {@link memoryRateStore} does. Memory in Redis is bounded by the calls of two windows, since
 * the key of each client expires.
 *
 * @param now returns the time in milliseconds; by default the clock of Redis is used, so that processes
 *   with different clocks agree
 */
export function redisRateStore(rate: Rate, connection: RedisConnection, now?: () => number): RateStore {
  // The number of a window depends on its length, so rates of different lengths do not share keys.
  const prefix = `tsweb:rate:${rate.seconds}:`;
  const settings = [String(rate.calls), String(rate.seconds)];
  return {
    async take(client) {
      const args = now ? [...settings, String(now())] : settings;
      return parseWait(await runScript(connection, TAKE, { keys: [prefix + client], args }));
    },
  };
}

function parseWait(reply: unknown): number {
  const wait = typeof reply === "string" ? Number(reply) : Number.NaN;
  if (Number.isFinite(wait)) return wait;
  throw new Error(`Unexpected reply of Redis to the rate limit script: ${typeof reply}. Expected a number of seconds.`);
}
