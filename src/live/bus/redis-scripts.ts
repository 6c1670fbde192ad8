import { defineScript } from "../../redis/index.ts";

/**
 * The functions that all scripts share.
 *
 * `get_epoch` returns the epoch, which exists as long as the data of this Redis. If the data was lost, so
 * were the streams, and positions of the earlier epoch are not valid any more.
 *
 * `get_last_id` returns the id of the last entry of a stream, also if that was trimmed; false if there is no
 * stream.
 */
const COMMON = `
local function get_epoch(key, candidate)
  local epoch = redis.call('GET', key)
  if not epoch then
    epoch = candidate
    redis.call('SET', key, epoch)
  end
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
 * ARGV: a new epoch, the number of the batch, the maximum age (ms), the maximum number of entries, how long
 * to remember the last batch (ms), the pub/sub channel, the messages.
 * Returns the epoch, and ms and seq of the first message; false if the producer has sent a later batch.
 */
export const APPEND = defineScript(`${COMMON}
local epoch = get_epoch(KEYS[1], ARGV[1])
local last_batch = redis.call('GET', KEYS[3])
if last_batch then
  local number, of_epoch, ms, seq = string.match(last_batch, '^(%d+) (%w+) (%d+) (%d+)$')
  if tonumber(number) > tonumber(ARGV[2]) then return false end
  if number == ARGV[2] then return { of_epoch, ms, seq } end
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
for at = 7, #ARGV do
  seq = seq + 1
  local id = time .. '-' .. string.format('%.0f', seq)
  redis.call('XADD', KEYS[2], id, 'p', previous_id or '0', 'd', ARGV[at])
  redis.call('PUBLISH', ARGV[6], epoch .. ' ' .. (previous_id or '0') .. ' ' .. id .. ' ' .. ARGV[at])
  previous_id = id
end
redis.call('XTRIM', KEYS[2], 'MAXLEN', ARGV[4])
redis.call('XTRIM', KEYS[2], 'MINID', string.format('%.0f', math.max(now - tonumber(ARGV[3]), 0)))
redis.call('PEXPIRE', KEYS[2], string.format('%.0f', tonumber(ARGV[3]) + 60000))
redis.call('SET', KEYS[3], ARGV[2] .. ' ' .. epoch .. ' ' .. time .. ' ' .. first_seq, 'PX', ARGV[5])
return { epoch, time, first_seq }
`);

/**
 * Returns the ends of channels.
 *
 * KEYS: the epoch, the streams. ARGV: a new epoch.
 * Returns the epoch, the time (ms), and the last id of each stream, empty if there is no stream.
 */
export const LAST_IDS = defineScript(`${COMMON}
local epoch = get_epoch(KEYS[1], ARGV[1])
local last_ids = {}
for at = 2, #KEYS do last_ids[at - 1] = get_last_id(KEYS[at]) or '' end
return { epoch, string.format('%.0f', now_ms()), last_ids }
`);

/**
 * Returns the entries after an id, up to about 1 MiB. Returns no entries if the id is of another epoch.
 *
 * KEYS: the epoch, the stream. ARGV: a new epoch, the epoch of the id, the id, the maximum number of entries.
 * Returns the epoch, the time (ms), the last id of the stream, empty if there is no stream, and the entries.
 */
export const RANGE = defineScript(`${COMMON}
local epoch = get_epoch(KEYS[1], ARGV[1])
local entries = {}
local size, remaining = 0, tonumber(ARGV[4])
local from = ARGV[3]
while epoch == ARGV[2] and remaining > 0 and size < 1048576 do
  local count = math.min(remaining, 32)
  local chunk = redis.call('XRANGE', KEYS[2], '(' .. from, '+', 'COUNT', count)
  for _, entry in ipairs(chunk) do
    entries[#entries + 1] = entry
    size = size + #entry[2][4]
    from = entry[1]
  end
  remaining = remaining - #chunk
  if #chunk < count then break end
end
return { epoch, string.format('%.0f', now_ms()), get_last_id(KEYS[2]) or '', entries }
`);
