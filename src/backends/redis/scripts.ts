import { defineScript } from "./client/index.ts";
import {
  type EntryId,
  isEntryId,
  parseEntryId,
  type StreamEntry,
  type StreamRange,
  type StreamState,
  UNKNOWN_ID,
  UnexpectedReplyError,
} from "./stream.ts";

/**
 * `read_run` returns the run of the server, as {@link COMMON} describes it, and the number of its replicas; nil without the
 * permission for `INFO`.
 */
export const READ_RUN = `
local function read_run()
  local server, replication = redis.pcall('INFO', 'server'), redis.pcall('INFO', 'replication')
  if type(server) ~= 'string' or type(replication) ~= 'string' then return nil end
  local promoted_at = string.match(replication, 'second_repl_offset:(%d+)')
  local run = string.match(server, 'run_id:(%x+)') .. (promoted_at and ':' .. promoted_at or '')
  return run, tonumber(string.match(replication, 'connected_slaves:(%d+)'))
end
`;

/**
 * The functions that all scripts share.
 *
 * `get_epoch` returns the epoch, which exists as long as the data of this Redis. If the data was lost, so
 * were the streams, and positions of the earlier epoch are not valid any more. The same holds if another program has
 * overwritten it: a position cannot contain any other text.
 *
 * Acknowledged writes can also be lost while the epoch is kept: a volatile Redis, one without append-only file, loses its
 * last writes when it ends, and a replica that is promoted has not received the last writes of its primary. The epoch of
 * such a Redis is stored with the run of the server, and is valid for that run only: its `run_id`, and the replication
 * offset at which it was promoted, if it was. So every restart and every fail-over starts a new epoch, also if the
 * streams look as they did before the lost messages. A run that a stored epoch contains counts also if the Redis is neither
 * volatile nor replicated any more.
 *
 * Each process passes the run that it has read when it connected, followed by `v` for a volatile Redis, `r` for one with
 * replicas or that was one, or `-`. A server keeps its run_id while a connection to it lasts. It can only have been
 * promoted in the meantime. So the scripts read the run themselves if the epoch contains another one.
 *
 * `get_last_id` returns the id of the last entry of a stream, also if that was trimmed; false if there is no
 * stream.
 */
const COMMON = `${READ_RUN}
local function get_epoch(key, candidate, process_run)
  local stored = redis.call('GET', key) or ''
  local epoch, run = string.match(stored, '^([0-9a-z]+) ?([%x:]*)$')
  if epoch and #epoch ~= 13 then epoch = nil end
  local known, binding = string.match(process_run, '^(%S+) (.)$')
  if epoch and (run == known or run == '' and binding == '-') then return epoch end
  local actual = read_run()
  if epoch and (not actual or run == actual) then return epoch end
  -- The server has got its first replica. An epoch that belongs to no run is valid, unless it is that of the former primary.
  local is_kept = epoch and run == '' and binding == 'r' and not string.find(actual, ':')
  if not is_kept then epoch = candidate end
  redis.call('SET', key, actual and binding ~= '-' and epoch .. ' ' .. actual or epoch)
  return epoch
end

local function now_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function get_last_id(key)
  if redis.call('EXISTS', key) == 0 then return false end
  local info = redis.call('XINFO', 'STREAM', key)
  for at = 1, #info, 2 do
    if info[at] == 'last-generated-id' then return info[at + 1] end
  end
end
`;

/**
 * Appends a batch of messages to a stream, and publishes each to the channel's pub/sub channel. A batch that
 * was stored before is not stored again: the script returns the same reply.
 *
 * An entry id is `<ms>-<seq>`: seq increases by one with each entry of the channel, and ms never decreases.
 * Each entry contains the id of the one before it. So a reader can decide for any id whether an entry is the
 * next one, also after entries were trimmed, the stream was deleted, or Redis was restored from a backup.
 *
 * KEYS: the epoch, the stream, the last batch of the producer.
 * ARGV: a new epoch, the run of the server, the number of the batch, the maximum age (ms), the maximum number
 * of entries, how long to remember the last batch (ms), the pub/sub channel, the messages.
 * Returns the epoch, and ms and seq of the first message; false if the producer has sent a later batch.
 */
export const APPEND = defineScript(`${COMMON}
local epoch = get_epoch(KEYS[1], ARGV[1], ARGV[2])
local last_batch = redis.call('GET', KEYS[3])
if last_batch then
  local number, of_epoch, ms, seq = string.match(last_batch, '^(%d+) (%w+) (%d+) (%d+)$')
  if number and tonumber(number) > tonumber(ARGV[3]) then return false end
  if number == ARGV[3] then return { of_epoch, ms, seq } end
end

local now = now_ms()
local previous_id = get_last_id(KEYS[2])
local ms, seq = now, 0
if previous_id then
  local last_ms, last_seq = string.match(previous_id, '^(%d+)-(%d+)$')
  ms, seq = math.max(now, tonumber(last_ms)), tonumber(last_seq)
end
local first_seq = string.format('%.0f', seq + 1)
local time = string.format('%.0f', ms)
for at = 8, #ARGV do
  seq = seq + 1
  local id = time .. '-' .. string.format('%.0f', seq)
  redis.call('XADD', KEYS[2], id, 'p', previous_id or '0', 'd', ARGV[at])
  redis.call('PUBLISH', ARGV[7], epoch .. ' ' .. (previous_id or '0') .. ' ' .. id .. ' ' .. ARGV[at])
  previous_id = id
end
redis.call('XTRIM', KEYS[2], 'MAXLEN', ARGV[5])
redis.call('XTRIM', KEYS[2], 'MINID', string.format('%.0f', math.max(now - tonumber(ARGV[4]), 0)))
redis.call('PEXPIRE', KEYS[2], string.format('%.0f', tonumber(ARGV[4]) + 60000))
redis.call('SET', KEYS[3], ARGV[3] .. ' ' .. epoch .. ' ' .. time .. ' ' .. first_seq, 'PX', ARGV[6])
return { epoch, time, first_seq }
`);

/**
 * Returns the ends of channels.
 *
 * KEYS: the epoch, the streams. ARGV: a new epoch, the run of the server.
 * Returns the epoch, the time (ms), and the last id of each stream, empty if there is no stream.
 */
export const LAST_IDS = defineScript(`${COMMON}
local epoch = get_epoch(KEYS[1], ARGV[1], ARGV[2])
local last_ids = {}
for at = 2, #KEYS do last_ids[at - 1] = get_last_id(KEYS[at]) or '' end
return { epoch, string.format('%.0f', now_ms()), last_ids }
`);

/** An epoch that stands for the current one. No epoch is this text. */
export const ANY_EPOCH = "*";

/**
 * Returns the entries after an id. Returns no entries if the id is of another epoch.
 *
 * Each XRANGE reads twice as many entries as the one before, up to 32, and no more than fit by the average size of those
 * that were read, so that few entries are read that do not fit.
 *
 * KEYS: the epoch, the stream. ARGV: a new epoch, the run of the server, the epoch of the id, the id, the
 * maximum number of entries, the maximum bytes of their messages, unless the first one alone exceeds it.
 * Returns the epoch, the time (ms), the last id of the stream, empty if there is no stream, and the entries.
 */
export const RANGE = defineScript(`${COMMON}
local epoch = get_epoch(KEYS[1], ARGV[1], ARGV[2])
local entries = {}
local remaining, max_bytes = tonumber(ARGV[5]), tonumber(ARGV[6])
local remaining_bytes = max_bytes
local from, count = ARGV[4], 1
local is_current = epoch == ARGV[3] or ARGV[3] == '${ANY_EPOCH}'
while is_current and remaining > 0 and remaining_bytes > 0 do
  count = math.min(count, remaining)
  local chunk = redis.call('XRANGE', KEYS[2], '(' .. from, '+', 'COUNT', count)
  for _, entry in ipairs(chunk) do
    remaining_bytes = remaining_bytes - #(entry[2][4] or '')
    if remaining_bytes < 0 and #entries > 0 then break end
    entries[#entries + 1] = entry
    from = entry[1]
  end
  remaining = remaining - #chunk
  if #chunk < count then break end
  local fitting = math.floor(remaining_bytes * #entries / math.max(max_bytes - remaining_bytes, 1))
  if fitting < 1 then break end
  count = math.min(count * 2, 32, fitting)
end
return { epoch, string.format('%.0f', now_ms()), get_last_id(KEYS[2]) or '', entries }
`);

/** Starts a new epoch. KEYS: the epoch. ARGV: the new epoch. */
export const START_EPOCH = defineScript("redis.call('SET', KEYS[1], ARGV[1])");

/**
 * Stores fingerprints, at most 64, unless others are stored and none of these. Fingerprints that no process has stored
 * for a time are removed.
 *
 * KEYS: the fingerprints. ARGV: how long to remember them (ms), the fingerprints.
 * Returns 1 if they are stored, otherwise 0.
 */
export const STORE_FINGERPRINTS = defineScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now - tonumber(ARGV[1])))
local is_known = redis.call('ZCARD', KEYS[1]) == 0
for at = 2, #ARGV do is_known = is_known or redis.call('ZSCORE', KEYS[1], ARGV[at]) end
if not is_known then return 0 end
for at = 2, #ARGV do redis.call('ZADD', KEYS[1], string.format('%.0f', now), ARGV[at]) end
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -65)
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1
`);

/** Parses the reply of `APPEND`: the epoch, and the id of the first message. */
export function parseAppendReply(reply: unknown): { readonly epoch: string; readonly firstId: EntryId } {
  if (!Array.isArray(reply)) throw new Error("Redis has already stored a later batch of this process.");
  const [epoch, ms, seq] = reply;
  return { epoch: expectText(epoch), firstId: { ms: Number(expectText(ms)), seq: Number(expectText(seq)) } };
}

/** Parses the reply of `LAST_IDS`: the state of each stream. */
export function parseLastIdsReply(reply: unknown): StreamState[] {
  const [epoch, nowMs, lastIds] = expectList(reply);
  return expectList(lastIds).map((lastId) => parseState(epoch, nowMs, lastId));
}

/** Parses the reply of `RANGE`. */
export function parseRangeReply(reply: unknown): StreamRange {
  const [epoch, nowMs, lastId, entries] = expectList(reply);
  return { ...parseState(epoch, nowMs, lastId), entries: expectList(entries).map(parseEntry) };
}

/**
 * Parses a pub/sub message of `APPEND`: the epoch, the previous id, the id, and the text of the message. Returns
 * undefined for any other text: every client of the Redis can publish to the pub/sub channel.
 */
export function parsePubSubMessage(text: string): { readonly epoch: string; readonly entry: StreamEntry } | undefined {
  const [, epoch, previousId, id, data] = /^([0-9a-z]{13}) (0|\d+-\d+) (\d+-\d+) (.*)$/s.exec(text) ?? [];
  if (epoch === undefined || previousId === undefined || id === undefined || data === undefined) return undefined;
  if (!isEntryId(id) || (previousId !== "0" && !isEntryId(previousId))) return undefined;
  return { epoch, entry: { id: parseEntryId(id), previousId, data } };
}

function parseState(epoch: unknown, nowMs: unknown, lastId: unknown): StreamState {
  const id = expectText(lastId);
  return {
    epoch: expectText(epoch),
    nowMs: Number(expectText(nowMs)),
    lastId: id === "" ? undefined : parseEntryId(id),
  };
}

/** Parses an entry. One that no bus wrote has no predecessor, so that readers detect the gap. */
function parseEntry(reply: unknown): StreamEntry {
  const [id, fields] = expectList(reply);
  const [previousName, previousId, dataName, data] = expectList(fields);
  const isOwn = previousName === "p" && dataName === "d" && typeof previousId === "string" && typeof data === "string";
  return { id: parseEntryId(expectText(id)), ...(isOwn ? { previousId, data } : { previousId: UNKNOWN_ID, data: "" }) };
}

function expectList(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw unexpectedReply(value, "array");
}

function expectText(value: unknown): string {
  if (typeof value === "string") return value;
  throw unexpectedReply(value, "string");
}

/** Names the type of a reply only: its value may be the text of a message. */
function unexpectedReply(value: unknown, expected: string): Error {
  return new UnexpectedReplyError(
    `Unexpected reply of Redis: ${typeof value} instead of ${expected}. Does another program write to the bus's keys?`,
  );
}
