#!lua
-- Lets a token stand for something, if its account then has at most so many.
--
-- KEYS  1 tokens of the account  2 token
-- ARGV  1 id of the token  2 its SHA-256  3 what it stands for  4 most tokens
-- Gives 1 if the token stands, by this call or an earlier one; 0 if there is no room.
if redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[2] then return 1 end
if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[4]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('SET', KEYS[2], ARGV[3])
return 1
