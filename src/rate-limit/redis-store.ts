import { defineScript, type RedisConnection, runScript } from "../redis/index.ts";
import type { RateStore } from "./store.ts";
import type { Rate } from "./window.ts";

/**
 * One call, counted or refused: the decision of `waitFor` in window.ts, in the numbers of both (they
 * are the same), made where no other call can come between.
 *
 * A client is one key, so that a cluster needs no say in where keys lie. It holds the number of a
 * window, the calls in the one before it and those in it, and is gone when neither counts any
 * longer. A call that is refused writes nothing. The wait is returned as text: of a number Redis
 * would drop the fraction.
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
local kept = redis.call('GET', KEYS[1])
if kept then
  local last, before, within = string.match(kept, '^(%d+) (%d+) (%d+)$')
  if tonumber(last) == window + 1 then -- set back across the edge: it stands there until the time comes again
    window, passed, elapsed = window + 1, 0, 0
  end
  if tonumber(last) == window then
    previous, current = tonumber(before), tonumber(within)
  elseif tonumber(last) == window - 1 then
    previous = tonumber(within)
  end
end

local wait = 0
if previous * (1 - elapsed) + current + 1 > calls then
  local room = calls - 1 - current
  if room >= 0 then
    wait = seconds * (1 - room / previous - elapsed)
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
 * Counts in Redis, for all processes that use it together: one round trip for a call.
 *
 * It decides as {@link memoryRate} does. Memory in Redis is bounded by the calls of two spans: each
 * client's key expires.
 *
 * @param now gives the time in milliseconds; the clock of Redis unless said, so that processes whose
 *   clocks differ count alike
 */
export function redisRateStore(rate: Rate, connection: RedisConnection, now?: () => number): RateStore {
  const prefix = `tsweb:rate:${rate.seconds}:`; // with another span, the numbers of windows mean other times
  const settings = [String(rate.calls), String(rate.seconds)];
  return {
    async take(client) {
      const args = now ? [...settings, String(now())] : settings;
      return waitOf(await runScript(connection, TAKE, { keys: [prefix + client], args }));
    },
  };
}

function waitOf(reply: unknown): number {
  const wait = typeof reply === "string" ? Number(reply) : Number.NaN;
  if (Number.isFinite(wait)) return wait;
  throw new Error("Redis answered with what is no time to wait.");
}
