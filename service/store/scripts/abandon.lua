#!lua flags=allow-oom
-- Forgets a request that had no effect, so that the next try is new.
--
-- KEYS  1 request
-- ARGV  1 token of this try
-- Gives 1 if it was ours and open.
local found = redis.call('HMGET', KEYS[1], 'token', 'answer')
if found[1] ~= ARGV[1] or found[2] then return 0 end
return redis.call('DEL', KEYS[1])
