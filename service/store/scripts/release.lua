#!lua flags=allow-oom
-- Gives a lease back, unless the log has grown since its holder looked: what came is his to go on with.
--
-- KEYS  1 lease  2 log (left out: there is none to look at)
-- ARGV  1 token  2 length of the log as the holder saw it last
-- Gives 1 if the lease isn't ours any more, by this call or before; 0 if we keep it because the log moved.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 1 end
if KEYS[2] and redis.call('LLEN', KEYS[2]) ~= tonumber(ARGV[2]) then return 0 end
redis.call('DEL', KEYS[1])
return 1
