#!lua
-- Keeps the answer to a request, unless another try has taken it over in the meantime.
--
-- KEYS  1 request
-- ARGV  1 fingerprint of its body  2 token of this try  3 answer  4 ms to keep it  5 account it is of
-- Gives 1 if the answer stands, by this call or an earlier one, else 0.
local found = redis.call('HMGET', KEYS[1], 'fingerprint', 'token', 'answer')
if found[1] and (found[1] ~= ARGV[1] or found[2] ~= ARGV[2]) then return 0 end
if found[3] then return found[3] == ARGV[3] and 1 or 0 end
redis.call('HSET', KEYS[1], 'fingerprint', ARGV[1], 'token', ARGV[2], 'answer', ARGV[3], 'account', ARGV[5])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
