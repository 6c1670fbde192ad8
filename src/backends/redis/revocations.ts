import {
  createLogEpoch,
  KEEP_SECONDS,
  type LogPosition,
  type Revocation,
  type RevocationRead,
  type RevocationStore,
} from "../../revocation/index.ts";
import { defineScript, type RedisConnection, type RunOnConnection, runScript } from "./client/index.ts";
import { READ_RUN } from "./scripts.ts";
import { UnexpectedReplyError } from "./stream.ts";

/**
 * How far after its end the log continues on another run of the server: more than the clocks of servers differ. A replica
 * that was promoted may lack the last entries of its primary, which processes may have read. Its entries have to be after
 * those.
 */
const NEW_RUN_STEP_MS = 60_000;

/** How long a revocation waits for the confirmation of a replica. */
const REPLICA_TIMEOUT_MS = 1_000;

/**
 * The log is one sorted set, so that Redis cannot lose a part of it: each subject with the `seq` of its last entry as the
 * score, the member `e:<epoch>` with 0, the member `end` with the last `seq`, and the member `r:<run>` with 0, the run of
 * the server that has appended last (see `scripts.ts`). It does not expire.
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

/**
 * KEYS: the log. ARGV: a new epoch, the subject, how long entries are kept (ms), the step on a new run (ms).
 * Returns the number of replicas.
 */
const APPEND = defineScript(`${COMMON}${READ_RUN}
get_epoch(ARGV[1])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local next_seq = get_end() + 1
local current, replicas = read_run()
local run = 'r:' .. (current or '')
if not redis.call('ZSCORE', KEYS[1], run) then
  next_seq = math.max(next_seq, now) + tonumber(ARGV[4])
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], 0, 0)) do
    if string.sub(member, 1, 2) == 'r:' then redis.call('ZREM', KEYS[1], member) end
  end
  redis.call('ZADD', KEYS[1], 0, run)
end
local seq = string.format('%.0f', math.max(next_seq, now))
redis.call('ZADD', KEYS[1], seq, ARGV[2], seq, 'end')
redis.call('ZREMRANGEBYSCORE', KEYS[1], 1, string.format('%.0f', now - tonumber(ARGV[3])))
return replicas or 0
`);

/** KEYS: the log. ARGV: a new epoch, an epoch, a seq. Returns the epoch, the end, and the entries with their scores. */
const READ = defineScript(`${COMMON}
local epoch = get_epoch(ARGV[1])
local from = epoch == ARGV[2] and '(' .. ARGV[3] or '(0'
return { epoch, string.format('%.0f', get_end()), redis.call('ZRANGEBYSCORE', KEYS[1], from, '+inf', 'WITHSCORES') }
`);

/**
 * Returns the store of revocations in Redis. If Redis has replicas, an entry is confirmed when one of them has it.
 *
 * @param key the key of the log
 */
export function redisRevocations(key: string, run: RunOnConnection): RevocationStore {
  return {
    async append(subject: string): Promise<void> {
      const args = [createLogEpoch(), subject, String(KEEP_SECONDS * 1000), String(NEW_RUN_STEP_MS)];
      await run(async (connection) => {
        const { generation } = connection;
        const replicas = await runScript(connection, APPEND, { keys: [key], args });
        if (replicas !== 0) await waitForReplica(connection, generation);
      });
    },
    async read(after: LogPosition | null): Promise<RevocationRead> {
      const args = [createLogEpoch(), after?.epoch ?? "-", String(after?.seq ?? 0)];
      return parseReply(await run((connection) => runScript(connection, READ, { keys: [key], args })));
    },
  };
}

/**
 * Waits until a replica has confirmed the last write.
 *
 * @throws Error if the connection is another one than that of the write, so that the write has to be repeated
 * @throws UnexpectedReplyError if no replica has confirmed it in time
 */
async function waitForReplica(connection: RedisConnection, generation: number): Promise<void> {
  const redis = await connection.client();
  const confirmed = await redis.wait(1, REPLICA_TIMEOUT_MS);
  if (connection.generation !== generation) throw new Error("The connection to Redis was lost.");
  if (confirmed > 0) return;
  throw new UnexpectedReplyError(
    `No replica of Redis at ${connection.address} has confirmed the revocation within a second. It is stored, but a ` +
      "fail-over could lose it. Repeat it.",
  );
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
