#!lua
-- Puts values into a hash in the place of those that the writer has seen: all of them or none.
--
-- KEYS  1 hash
-- ARGV  1.. field, value as seen, new value, in turn
-- Gives 1 if they stand, by this call or an earlier one; 0 if something else is there.
for i = 1, #ARGV, 3 do
  local now = redis.call('HGET', KEYS[1], ARGV[i])
  if now ~= ARGV[i + 1] and now ~= ARGV[i + 2] then return 0 end
end
for i = 1, #ARGV, 3 do
  redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 2])
end
return 1
