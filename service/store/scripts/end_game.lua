#!lua flags=allow-oom
-- Ends a game otherwise than by its last event: cancelled, aborted, void. Runs when memory is short, too.
--
-- KEYS  1 meta
-- ARGV  1 state  2 channel to tell
-- Gives 2 if the game is in that state by this call, 1 by an earlier one; 0 if it ended otherwise or there is none.
local state = redis.call('HGET', KEYS[1], 'state')
if state ~= 'open' and state ~= 'running' then return state == ARGV[1] and 1 or 0 end

local time = redis.call('TIME')
local ms = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
redis.call('HSET', KEYS[1], 'state', ARGV[1], 'ended_at', ms)
redis.call('PUBLISH', ARGV[2], ARGV[1])
return 2
