#!lua
-- Puts a value into a hash in the place of the one its writer has seen; with none seen, it is written once for ever.
--
-- KEYS  1 hash  2 number of changes
-- ARGV  1 field  2 value as seen, '' if there was none  3 new value  4 channel to tell
-- Gives the value that stands now.
local now = redis.call('HGET', KEYS[1], ARGV[1]) or ''
if now ~= ARGV[2] or now == ARGV[3] then return now end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
redis.call('INCR', KEYS[2])
redis.call('PUBLISH', ARGV[4], 'changed')
return ARGV[3]
