#!lua
-- Sets the times of those names that still have the time the caller knows; one that has left stays away.
--
-- KEYS  1 due
-- ARGV  1 new time  2.. name and the time it is known to have, in turn
-- Gives the time of each name as it is now, -1 for one that has left.
local times = {}
for i = 2, #ARGV, 2 do
  local at = redis.call('ZSCORE', KEYS[1], ARGV[i])
  if at and tonumber(at) == tonumber(ARGV[i + 1]) then
    redis.call('ZADD', KEYS[1], ARGV[1], ARGV[i])
    at = ARGV[1]
  end
  times[#times + 1] = at and tonumber(at) or -1
end
return times
