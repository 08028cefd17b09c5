#!lua flags=allow-oom
-- Prolongs a lease that is ours; never takes one that ran out, since another may have acted in between.
--
-- KEYS  1 lease
-- ARGV  1 token  2 ms it lasts from now
-- Gives 1 if it is still ours, else 0.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
