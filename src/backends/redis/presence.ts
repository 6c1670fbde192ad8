import type { PresenceEntry, PresenceMember, PresenceState, PresenceStore, PresenceWatch } from "../bus/index.ts";
import { defineScript, type RunOnConnection, runScript, type Script } from "./client/index.ts";
import type { RedisKeys } from "./keys.ts";
import { UnexpectedReplyError } from "./stream.ts";
import type { RedisSubscriber } from "./subscriber.ts";

/**
 * How long a channel is stored after the last renewal of a lease, and how long a lease that has ended. Until then, a process
 * that could not renew its lease need not store its members again.
 */
const KEEP_MS = 300_000;

/**
 * The members of a channel are one hash: the field `m<id>` is the holder, a space and the value, and the field `s<id>` the time
 * of the state in microseconds, a space and the state. The leases of the holders are a sorted set with the times at which they
 * end. A change is published as `changed`, or as `removed <id>`.
 *
 * KEYS of all scripts: the members, the leases. The first two ARGV: the pub/sub channel, how long the keys are kept (ms).
 */
const COMMON = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function has_lease(holder)
  return tonumber(redis.call('ZSCORE', KEYS[2], holder) or '0') > now
end
local function keep()
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  redis.call('PEXPIRE', KEYS[2], ARGV[2])
end
local function set_state(id, json)
  local micros = string.format('%.0f', time[1] * 1000000 + time[2])
  redis.call('HSET', KEYS[1], 's' .. id, micros .. ' ' .. json)
end
local function notify(text) redis.call('PUBLISH', ARGV[1], text) end
`;

/** Further ARGV: the holder, the lease (ms). Members without a lease for long are deleted. */
const RENEW = defineScript(`${COMMON}
if not has_lease(ARGV[3]) then notify('changed') end
redis.call('ZADD', KEYS[2], string.format('%.0f', now + tonumber(ARGV[4])), ARGV[3])
local ended = string.format('%.0f', now - tonumber(ARGV[2]))
if redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', ended) > 0 then
  local fields = redis.call('HGETALL', KEYS[1])
  for at = 1, #fields, 2 do
    local id, holder = string.match(fields[at], '^m(.*)$'), string.match(fields[at + 1], '^%S+')
    if id and not redis.call('ZSCORE', KEYS[2], holder) then redis.call('HDEL', KEYS[1], 'm' .. id, 's' .. id) end
  end
end
keep()
`);

/** Returns 1 if there are members, with or without a lease. */
const HAS_MEMBERS = defineScript(`return redis.call('EXISTS', KEYS[1])`);

/** Returns the time (ms), the fields of the hash, and the leases. */
const READ = defineScript(`${COMMON}
return {
  string.format('%.0f', now), redis.call('HGETALL', KEYS[1]), redis.call('ZRANGE', KEYS[2], 0, -1, 'WITHSCORES')
}
`);

/** Further ARGV: the id, the holder, the value, 1 if nothing is to be replaced, and the state, if any. */
const PUT = defineScript(`${COMMON}
local field = 'm' .. ARGV[3]
local current = redis.call('HGET', KEYS[1], field)
local holder = current and string.match(current, '^%S+')
if ARGV[6] == '1' and holder and holder ~= ARGV[4] and has_lease(holder) then return end
redis.call('HSET', KEYS[1], field, ARGV[4] .. ' ' .. ARGV[5])
if ARGV[7] then set_state(ARGV[3], ARGV[7]) end
keep()
local is_same = current and has_lease(holder) and string.sub(current, #holder + 2) == ARGV[5]
if not is_same or ARGV[7] then notify('changed') end
`);

/** Further ARGV: the id, and the holder, if it matters. */
const REMOVE = defineScript(`${COMMON}
local current = redis.call('HGET', KEYS[1], 'm' .. ARGV[3])
if not current or ARGV[4] and string.match(current, '^%S+') ~= ARGV[4] then return end
redis.call('HDEL', KEYS[1], 'm' .. ARGV[3], 's' .. ARGV[3])
notify(ARGV[4] and 'changed' or 'removed ' .. ARGV[3])
`);

/** Further ARGV: the id, the state. Returns 1 if there is such a member. */
const SET_STATE = defineScript(`${COMMON}
local current = redis.call('HGET', KEYS[1], 'm' .. ARGV[3])
if not current or not has_lease(string.match(current, '^%S+')) then return 0 end
set_state(ARGV[3], ARGV[4])
notify('changed')
return 1
`);

/** The options of {@link RedisPresence}. */
export interface RedisPresenceOptions {
  readonly keys: RedisKeys;
  readonly run: RunOnConnection;
  readonly subscriber: RedisSubscriber;
}

/** Who is present, in Redis. */
export class RedisPresence implements PresenceStore {
  readonly #options: RedisPresenceOptions;

  constructor(options: RedisPresenceOptions) {
    this.#options = options;
  }

  async watch(channel: string, { holder, leaseMs, listener }: PresenceWatch): Promise<() => void> {
    const { keys, subscriber } = this.#options;
    const stop = await subscriber.listen(keys.presencePubSubChannel(channel), (text = "") =>
      listener(/^removed (\S+)$/.exec(text)?.[1]),
    );
    try {
      await this.renew(channel, holder, leaseMs);
    } catch (error) {
      stop();
      throw error;
    }
    return stop;
  }

  async renew(channel: string, holder: string, leaseMs: number): Promise<void> {
    await this.#run(RENEW, channel, [holder, String(leaseMs)]);
  }

  async isEmpty(channel: string): Promise<boolean> {
    return (await this.#run(HAS_MEMBERS, channel, [])) === 0;
  }

  async read(channel: string): Promise<readonly PresenceMember[]> {
    return parseMembers(await this.#run(READ, channel, []));
  }

  async put(channel: string, { id, holder, value, state }: PresenceEntry, { ifAbsent = false } = {}): Promise<void> {
    await this.#run(PUT, channel, [id, holder, value, ifAbsent ? "1" : "0", ...(state === undefined ? [] : [state])]);
  }

  async remove(channel: string, id: string, holder: string | null): Promise<void> {
    await this.#run(REMOVE, channel, holder === null ? [id] : [id, holder]);
  }

  async setState(channel: string, id: string, json: string): Promise<boolean> {
    return (await this.#run(SET_STATE, channel, [id, json])) === 1;
  }

  #run(script: Script, channel: string, args: readonly string[]): Promise<unknown> {
    const { keys, run } = this.#options;
    const input = {
      keys: [keys.members(channel), keys.leases(channel)],
      args: [keys.presencePubSubChannel(channel), String(KEEP_MS), ...args],
    };
    return run((connection) => runScript(connection, script, input));
  }
}

/** Parses the reply of `READ`. Fields of another form are of another program, and are ignored. */
function parseMembers(reply: unknown): readonly PresenceMember[] {
  const [now, fields, leases] = Array.isArray(reply) ? reply : [];
  if (!Array.isArray(fields) || !Array.isArray(leases)) {
    throw new UnexpectedReplyError("Redis replied with something that is no list of members.");
  }
  const endsAtMs = new Map(pairs(leases).map(([holder, end]) => [holder, Number(end)]));
  const hash = new Map(pairs(fields));
  const members: PresenceMember[] = [];
  for (const [field, text] of hash) {
    const [, id] = /^m(.+)$/.exec(field) ?? [];
    const [, holder, value] = /^(\S+) (.*)$/s.exec(text) ?? [];
    if (id === undefined || holder === undefined || value === undefined) continue;
    if ((endsAtMs.get(holder) ?? 0) <= Number(now)) continue;
    members.push({ id, holder, value, state: parseState(hash.get(`s${id}`)) });
  }
  return members;
}

function parseState(text: string | undefined): PresenceState | null {
  const [, order, json] = /^(\d+) (.*)$/s.exec(text ?? "") ?? [];
  return json === undefined ? null : { json, order: Number(order) };
}

function pairs(list: readonly unknown[]): [string, string][] {
  const result: [string, string][] = [];
  for (let at = 0; at < list.length; at += 2) result.push([String(list[at]), String(list[at + 1])]);
  return result;
}
