#!lua
-- Counts a thing against a limit on how many there may be within a span of time.
--
-- KEYS  1 things counted so far, by their ms
-- ARGV  1 thing  2 most things within the span  3 span in ms
-- Gives 0 if the thing is counted, by this call or an earlier one; else how many ms it has to wait.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local span = tonumber(ARGV[3])
if redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now - span))
local over = redis.call('ZCARD', KEYS[1]) - tonumber(ARGV[2])
if over >= 0 then
  local leaves = redis.call('ZRANGE', KEYS[1], over, over, 'WITHSCORES')[2]
  return math.max(1, leaves + span - now)
end
redis.call('ZADD', KEYS[1], string.format('%.0f', now), ARGV[1])
redis.call('PEXPIRE', KEYS[1], span)
return 0
