#!lua
-- Counts a game (or a tournament) among the unfinished ones of its owner, if that leaves him within his limit.
--
-- KEYS  1 unfinished games of the owner
-- ARGV  1 game  2 most games he may have  3 ms after which all of them are forgotten, '' for never
-- Gives 1 if the game is counted, by this call or an earlier one; 0 if there is no room.
if redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 1 end
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
local time = redis.call('TIME')
redis.call('ZADD', KEYS[1], string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000)), ARGV[1])
if ARGV[3] ~= '' then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return 1
