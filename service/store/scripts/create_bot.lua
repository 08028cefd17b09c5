#!lua
-- Keeps a new bot with its secret and lists it, if its account then has at most so many.
--
-- KEYS  1 bot  2 its secrets  3 all bots  4 bots of the account
-- ARGV  1 bot, 2 its secrets: both as `put` stores them  3 entry in the lists  4 most bots
-- Gives 1 if the bot stands as given, by this call or an earlier one; 0 if another has its id, -1 if there is no room.
local now = redis.call('GET', KEYS[1])
if now then return string.sub(now, 18) == string.sub(ARGV[1], 18) and 1 or 0 end
if redis.call('ZCARD', KEYS[4]) >= tonumber(ARGV[4]) then return -1 end
redis.call('SET', KEYS[1], ARGV[1])
redis.call('SET', KEYS[2], ARGV[2])
redis.call('ZADD', KEYS[3], 0, ARGV[3])
redis.call('ZADD', KEYS[4], 0, ARGV[3])
return 1
