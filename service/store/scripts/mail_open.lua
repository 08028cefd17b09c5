#!lua flags=allow-oom
-- Notes that some process answers polls now; all of them do so again and again.
--
-- KEYS  1 since when bots could poll, and when that was noted last
-- ARGV  1 ms after which, if nobody notes it again, nobody answers any more
-- Gives 1. If there was no note for so long, or the clock was set meanwhile, it begins anew.
local now = redis.call('TIME')
local now_ms = now[1] * 1000 + math.floor(now[2] / 1000)
local last = tonumber(redis.call('HGET', KEYS[1], 'last') or 0)
local noted = string.format('%.0f', now_ms)
if last > now_ms or now_ms - last >= tonumber(ARGV[1]) then redis.call('HSET', KEYS[1], 'since', noted) end
redis.call('HSET', KEYS[1], 'last', noted)
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1
