#!lua
-- Counts a request under several limits, in turn, as far as none is passed: what is refused counts no further.
--
-- KEYS  one counter for each limit
-- ARGV  pairs of what a counter may reach and how long (s) it counts, in the order of KEYS
-- Gives {number of the limit that was passed, seconds until it counts anew}, {0, 0} if none was.
for i = 1, #KEYS do
  local count = redis.call('INCR', KEYS[i])
  if count == 1 then
    redis.call('EXPIRE', KEYS[i], ARGV[2 * i])
  end
  if count > tonumber(ARGV[2 * i - 1]) then
    return {i, redis.call('TTL', KEYS[i])}
  end
end
return {0, 0}
