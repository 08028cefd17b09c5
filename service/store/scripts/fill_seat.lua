#!lua
-- Puts another player on a seat of an open game: somebody joins, or leaves. What the one before had added to the
-- shuffle goes with him.
--
-- KEYS  1 meta  2 tokens
-- ARGV  1 seat  2 player, as JSON  3 kind of the player who must sit there now
--       4 token hash of the new player, '' if he has none
--       5 token hash that must be the seat's now, '' if it doesn't matter
--       6 channel to tell
-- Gives filled (also if an earlier call whose answer was lost did it), taken, started, or missing.
local state = redis.call('HGET', KEYS[1], 'state')
if not state then return 'missing' end
local field = 'seat:' .. ARGV[1]
local now = redis.call('HGET', KEYS[1], field)
local token = redis.call('HGET', KEYS[2], ARGV[1]) or ''
if now == ARGV[2] and token == ARGV[4] then return 'filled' end
if state ~= 'open' then return 'started' end

local player = now and cjson.decode(now)
  or cjson.decode(redis.call('HGET', KEYS[1], 'body')).seats[tonumber(ARGV[1]) + 1]
if not player then return 'missing' end
if player.kind ~= ARGV[3] or (ARGV[5] ~= '' and token ~= ARGV[5]) then return 'taken' end

if ARGV[4] == '' then
  redis.call('HDEL', KEYS[2], ARGV[1])
else
  redis.call('HSET', KEYS[2], ARGV[1], ARGV[4])
end
redis.call('HSET', KEYS[1], field, ARGV[2])
redis.call('HDEL', KEYS[1], 'entropy:' .. ARGV[1])
redis.call('PUBLISH', ARGV[6], 'seat')
return 'filled'
