#!lua
-- Takes what a seat adds to the shuffle, as long as the game is open.
--
-- KEYS  1 meta  2 tokens
-- ARGV  1 seat  2 entropy  3 channel to tell  4 token hash that must be the seat's, '' if it doesn't matter
-- Gives 1 if it stands, by this call or an earlier one; 0 if the seat is another's, the game isn't open any more, or
-- there is none.
if ARGV[4] ~= '' and redis.call('HGET', KEYS[2], ARGV[1]) ~= ARGV[4] then return 0 end
local field = 'entropy:' .. ARGV[1]
if redis.call('HGET', KEYS[1], field) == ARGV[2] then return 1 end
if redis.call('HGET', KEYS[1], 'state') ~= 'open' then return 0 end
redis.call('HSET', KEYS[1], field, ARGV[2])
redis.call('PUBLISH', ARGV[3], 'entropy')
return 1
