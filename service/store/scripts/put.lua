#!lua
-- Puts a value in the place of the one its writer has seen. A value is stored as `<16 letters> <value>`; the letters are
-- new for each write, so that of two writers who want the same change each knows whether it was his.
--
-- KEYS  1 value  2 number of changes (left out: nobody counts or waits)
-- ARGV  1 what was seen, '' if there was nothing  2 what to store  3 channel to tell, with KEYS 2
-- Gives 1 if it stands, by this call or an earlier one; where nothing was expected, also if the same value was there.
-- Gives 0 if something else is there.
local now = redis.call('GET', KEYS[1]) or ''
if now == ARGV[2] then return 1 end
if now ~= ARGV[1] then
  return ARGV[1] == '' and string.sub(now, 18) == string.sub(ARGV[2], 18) and 1 or 0
end
redis.call('SET', KEYS[1], ARGV[2])
if KEYS[2] then
  redis.call('INCR', KEYS[2])
  redis.call('PUBLISH', ARGV[3], 'changed')
end
return 1
