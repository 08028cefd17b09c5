#!lua
-- Opens a request that must have its effect once, or tells what became of it.
--
-- KEYS  1 request
-- ARGV  1 fingerprint of its body  2 token of this try  3 ms until a try counts as dead  4 account it is of
-- Gives {new} (also if this very try asked before), {conflict}, {in_flight}, or {stored, answer}.
local found = redis.call('HMGET', KEYS[1], 'fingerprint', 'token', 'answer')
if not found[1] then
  redis.call('HSET', KEYS[1], 'fingerprint', ARGV[1], 'token', ARGV[2], 'account', ARGV[4])
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
  return {'new'}
end
if found[1] ~= ARGV[1] then return {'conflict'} end
if found[3] then return {'stored', found[3]} end
return {found[2] == ARGV[2] and 'new' or 'in_flight'}
