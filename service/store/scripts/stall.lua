#!lua
-- Counts how often the arena failed to ask at one point of a game; another point starts at 1 again.
--
-- KEYS  1 meta
-- ARGV  1 length of the log  2 a word that is new for each count, so that a call sent twice counts once
-- Gives the count, 0 if there is no such game.
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local length, count, nonce = string.match(redis.call('HGET', KEYS[1], 'stall') or '', '^(%d+) (%d+) (%S+)$')
count = length == ARGV[1] and tonumber(count) or 0
if count > 0 and nonce == ARGV[2] then return count end
redis.call('HSET', KEYS[1], 'stall', ARGV[1] .. ' ' .. (count + 1) .. ' ' .. ARGV[2])
return count + 1
