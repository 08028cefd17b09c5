#!lua flags=allow-oom
-- Lets a token stand for nothing, unless it is the last of its account.
--
-- KEYS  1 tokens of the account  2 token
-- ARGV  1 id of the token  2 its SHA-256
-- Gives 1 if it is gone, by this call or an earlier one; 0 if it is the last.
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 1 end
if redis.call('HLEN', KEYS[1]) == 1 then return 0 end
redis.call('DEL', KEYS[2])
redis.call('HDEL', KEYS[1], ARGV[1])
return 1
