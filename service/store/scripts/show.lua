#!lua
-- Notes that a game on a shared board can be read now, and wakes who waits for that; the first call stands.
--
-- KEYS  1 meta
-- ARGV  1 word of this call  2 channel to tell
-- Gives 1 if this call did it, also if it is sent again; 0 if another had before, or there is no such game.
local shown = redis.call('HGET', KEYS[1], 'shown')
if shown then return shown == ARGV[1] and 1 or 0 end
if redis.call('HEXISTS', KEYS[1], 'body') == 0 then return 0 end
redis.call('HSET', KEYS[1], 'shown', ARGV[1])
redis.call('PUBLISH', ARGV[2], 'shown')
return 1
