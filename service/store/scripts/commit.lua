#!lua
-- Appends events to the log of one running game, or tells why not. All of it or nothing.
--
-- KEYS  1 meta  2 log  3 lease
-- ARGV  1 length the log is expected to have
--       2 token of the lease, '' if the caller needs none (a human's action)
--       3 state of the game after these events, '' if it goes on
--       4 channel to tell
--       5 stamp (ms) of the event before them as the caller knows it, '' if it knows none
--       6.. events
-- Gives ms, the time of the events, if this call wrote them; else {status, length now, ms, state}; status is
--   committed  the events stand at the expected place, `ms` is the time of the last: an earlier call put them there
--              and its answer was lost, whatever has happened to game and lease since; after another past the same
--              events are another's.
--   state      the game isn't running (state '' = there is no such game)
--   lease      the lease is another's, or ran out
--   length     the log has another length, or another past: a log that lost its end in a failover may have grown again
--              to the length that the caller knows
local state = redis.call('HGET', KEYS[1], 'state') or ''
local length = redis.call('LLEN', KEYS[2])
local expected = tonumber(ARGV[1])
local count = #ARGV - 5

local function standing_since()
  if length < expected + count then return nil end
  local at
  for i, line in ipairs(redis.call('LRANGE', KEYS[2], expected, expected + count - 1)) do
    local space = string.find(line, ' ', 1, true)
    if string.sub(line, space + 1) ~= ARGV[5 + i] then return nil end
    at = tonumber(string.sub(line, 1, space - 1))
  end
  return at
end

local function has_past()
  if ARGV[5] == '' or expected == 0 then return true end
  local line = redis.call('LINDEX', KEYS[2], expected - 1)
  if not line then return false end
  return string.sub(line, 1, string.find(line, ' ', 1, true) - 1) == ARGV[5]
end

local is_known = has_past()
local since = is_known and standing_since()
if since then return {'committed', length, since, state} end
if state ~= 'running' then return {'state', length, 0, state} end
if ARGV[2] ~= '' and redis.call('GET', KEYS[3]) ~= ARGV[2] then return {'lease', length, 0, state} end
if length ~= expected or not is_known then return {'length', length, 0, state} end

local time = redis.call('TIME')
local ms = time[1] * 1000 + math.floor(time[2] / 1000)
local stamp = string.format('%.0f ', ms)
for i = 6, #ARGV do
  length = redis.call('RPUSH', KEYS[2], stamp .. ARGV[i])
end
if ARGV[3] ~= '' then
  redis.call('HSET', KEYS[1], 'state', ARGV[3], 'ended_at', string.format('%.0f', ms))
end
redis.call('PUBLISH', ARGV[4], length)
return ms
