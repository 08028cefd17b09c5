#!lua
-- Lets an open game run, if all its seats are taken.
--
-- KEYS  1 meta
-- ARGV  1 channel to tell
-- Gives 1 if the game runs, by this call or an earlier one; 0 if a seat is open, the game is over or there is none.
local state = redis.call('HGET', KEYS[1], 'state')
if state ~= 'open' then return state == 'running' and 1 or 0 end

local seats = cjson.decode(redis.call('HGET', KEYS[1], 'body')).seats
for i, seat in ipairs(seats) do
  local later = redis.call('HGET', KEYS[1], 'seat:' .. (i - 1))
  if (later and cjson.decode(later) or seat).kind == 'open' then return 0 end
end

local time = redis.call('TIME')
local ms = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
redis.call('HSET', KEYS[1], 'state', 'running', 'started_at', ms)
redis.call('PUBLISH', ARGV[1], 'running')
return 1
