import { defineScript, type Script, type ScriptInput } from "../../redis/index.ts";
import {
  createLogEpoch,
  KEEP_SECONDS,
  type LogPosition,
  type Revocation,
  type RevocationRead,
  type RevocationStore,
} from "../../revocation/index.ts";
import { UnexpectedReplyError } from "./redis-stream.ts";

/**
 * The log is one sorted set, so that Redis cannot lose a part of it: each subject with the `seq` of its last entry as the
 * score, the member `e:<epoch>` with 0, and the member `end` with the last `seq`. It does not expire.
 *
 * A `seq` is the time of Redis in milliseconds, but greater than every one before it. So a Redis that was restored from a
 * backup continues after what was lost.
 */
const COMMON = `
local function get_epoch(candidate)
  local first = redis.call('ZRANGE', KEYS[1], 0, 0)[1] or ''
  local epoch = string.match(first, '^e:([0-9a-z]+)$')
  if epoch then return epoch end
  redis.call('DEL', KEYS[1])
  redis.call('ZADD', KEYS[1], 0, 'e:' .. candidate)
  return candidate
end
local function get_end() return tonumber(redis.call('ZSCORE', KEYS[1], 'end') or '0') end
`;

/** KEYS: the log. ARGV: a new epoch, the subject, how long entries are kept (ms). */
const APPEND = defineScript(`${COMMON}
get_epoch(ARGV[1])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local seq = string.format('%.0f', math.max(get_end() + 1, now))
redis.call('ZADD', KEYS[1], seq, ARGV[2], seq, 'end')
redis.call('ZREMRANGEBYSCORE', KEYS[1], 1, string.format('%.0f', now - tonumber(ARGV[3])))
return 1
`);

/** KEYS: the log. ARGV: a new epoch, an epoch, a seq. Returns the epoch, the end, and the entries with their scores. */
const READ = defineScript(`${COMMON}
local epoch = get_epoch(ARGV[1])
local from = epoch == ARGV[2] and '(' .. ARGV[3] or '(0'
return { epoch, string.format('%.0f', get_end()), redis.call('ZRANGEBYSCORE', KEYS[1], from, '+inf', 'WITHSCORES') }
`);

/** Runs a script on a prepared connection. Retries while Redis is unreachable, for up to two seconds. */
export type RunScript = (script: Script, input: ScriptInput) => Promise<unknown>;

/**
 * Returns the store of revocations in Redis.
 *
 * @param key the key of the log
 */
export function redisRevocations(key: string, run: RunScript): RevocationStore {
  return {
    async append(subject: string): Promise<void> {
      await run(APPEND, { keys: [key], args: [createLogEpoch(), subject, String(KEEP_SECONDS * 1000)] });
    },
    async read(after: LogPosition | null): Promise<RevocationRead> {
      const args = [createLogEpoch(), after?.epoch ?? "-", String(after?.seq ?? 0)];
      return parseReply(await run(READ, { keys: [key], args }));
    },
  };
}

function parseReply(reply: unknown): RevocationRead {
  const [epoch, end, members] = Array.isArray(reply) ? reply : [];
  if (typeof epoch !== "string" || !Number.isSafeInteger(Number(end)) || !Array.isArray(members)) {
    throw new UnexpectedReplyError("Redis replied with something that is no revocation log.");
  }
  const entries: Revocation[] = [];
  for (let at = 0; at < members.length; at += 2) {
    const subject = String(members[at]);
    if (subject !== "end") entries.push({ subject, seq: Number(members[at + 1]) });
  }
  return { epoch, entries, end: Number(end) };
}
