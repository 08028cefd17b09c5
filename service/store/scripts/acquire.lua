#!lua flags=allow-oom
-- Takes a lease, or keeps the one we have. Runs when memory is short, too: who frees some needs a lease.
--
-- KEYS  1 lease
-- ARGV  1 token  2 ms it lasts from now
-- Gives 1 if it is ours, 0 if another's.
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
