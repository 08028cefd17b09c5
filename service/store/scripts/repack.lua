#!lua
-- Puts another packed form of a game, and other notes, in the place of those that the writer has seen.
--
-- KEYS  1 packed  2 notes
-- ARGV  1 packed form as seen  2 new packed form  3 new packed notes, '' if there are none
-- Gives 1 if they stand, by this call or an earlier one; 0 if something else is there.
local now = redis.call('GET', KEYS[1])
if now ~= ARGV[1] then return now == ARGV[2] and 1 or 0 end
redis.call('SET', KEYS[1], ARGV[2])
if ARGV[3] == '' then
  redis.call('DEL', KEYS[2])
else
  redis.call('SET', KEYS[2], ARGV[3])
end
return 1
