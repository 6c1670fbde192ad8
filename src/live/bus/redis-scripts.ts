import { defineScript } from "../../redis/index.ts";

/**
 * What all scripts begin with. The epoch lives as long as the data of this Redis: where it is gone, so
 * is what channels held, and positions of before are of no use.
 *
 * `last` gives the number of the last entry of a stream, also of one that was emptied by trimming;
 * false where there is no stream.
 */
const COMMON = `
local function epoch_of(key, candidate)
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

local function last(key)
  if redis.call('EXISTS', key) == 0 then return false end
  local info = redis.call('XINFO', 'STREAM', key)
  for at = 1, #info, 2 do
    if info[at] == 'last-generated-id' then return info[at + 1] end
  end
end
`;

/**
 * Appends messages, once for each number of their producer, and wakes who listens.
 *
 * An entry's id is \`<ms>-<n>\`: n goes up by one in its channel, and never does the time go back. Each
 * entry names the one before it, so that a reader knows of any place whether it is the next one,
 * whatever was trimmed, emptied or brought back meanwhile.
 *
 * KEYS: the epoch, the stream, what its producer sent last.
 * ARGV: a new epoch, the producer's number, how long to keep (ms), how many to keep, how long to
 * remember the producer (ms), the channel of the wake-up, the messages.
 * Returns the epoch, the time and the number of the first message; nothing where the producer has
 * gone on to a later number.
 */
export const APPEND = defineScript(`${COMMON}
local epoch = epoch_of(KEYS[1], ARGV[1])
local sent = redis.call('GET', KEYS[3])
if sent then
  local number, of_epoch, ms, n = string.match(sent, '^(%d+) (%w+) (%d+) (%d+)$')
  if tonumber(number) > tonumber(ARGV[2]) then return false end
  if number == ARGV[2] then return { of_epoch, ms, n } end
end

local now = now_ms()
local before = last(KEYS[2])
local ms, n = now, 0
if before then
  local last_ms, last_n = string.match(before, '^(%d+)-(%d+)$')
  ms, n = math.max(now, tonumber(last_ms)), tonumber(last_n)
end
local first = n + 1
local time = string.format('%.0f', ms)
for at = 7, #ARGV do
  n = n + 1
  local id = time .. '-' .. string.format('%.0f', n)
  redis.call('XADD', KEYS[2], id, 'p', before or '0', 'd', ARGV[at])
  redis.call('PUBLISH', ARGV[6], epoch .. ' ' .. (before or '0') .. ' ' .. id .. ' ' .. ARGV[at])
  before = id
end
redis.call('XTRIM', KEYS[2], 'MAXLEN', ARGV[4])
redis.call('XTRIM', KEYS[2], 'MINID', string.format('%.0f', math.max(now - tonumber(ARGV[3]), 0)))
redis.call('PEXPIRE', KEYS[2], string.format('%.0f', tonumber(ARGV[3]) + 60000))
local number = string.format('%.0f', first)
redis.call('SET', KEYS[3], ARGV[2] .. ' ' .. epoch .. ' ' .. time .. ' ' .. number, 'PX', ARGV[5])
return { epoch, time, number }
`);

/**
 * Gives the ends of channels.
 *
 * KEYS: the epoch, the streams. ARGV: a new epoch.
 * Returns the epoch, the time, and the last id of each stream, empty where there is none.
 */
export const LAST_IDS = defineScript(`${COMMON}
local epoch = epoch_of(KEYS[1], ARGV[1])
local ends = {}
for at = 2, #KEYS do ends[at - 1] = last(KEYS[at]) or '' end
return { epoch, string.format('%.0f', now_ms()), ends }
`);

/**
 * Gives what comes after an id: so much at once as is not more than some 1 MiB.
 *
 * KEYS: the epoch, the stream. ARGV: a new epoch, the epoch of the id, the id, how many at most.
 * Returns the epoch, the time, the last id of the stream, empty where there is none, and the entries.
 */
export const RANGE = defineScript(`${COMMON}
local epoch = epoch_of(KEYS[1], ARGV[1])
local entries = {}
local size, wanted = 0, tonumber(ARGV[4])
local from = ARGV[3]
while epoch == ARGV[2] and wanted > 0 and size < 1048576 do
  local count = math.min(wanted, 32)
  local some = redis.call('XRANGE', KEYS[2], '(' .. from, '+', 'COUNT', count)
  for _, entry in ipairs(some) do
    entries[#entries + 1] = entry
    size = size + #entry[2][4]
    from = entry[1]
  end
  wanted = wanted - #some
  if #some < count then break end
end
return { epoch, string.format('%.0f', now_ms()), last(KEYS[2]) or '', entries }
`);
