#!lua
-- Puts lines into a list in the place of those that the writer has seen; one that is another by now stays.
--
-- KEYS  1 list
-- ARGV  1.. index, line as seen, new line, in turn
-- Gives 1.
for i = 1, #ARGV, 3 do
  if redis.call('LINDEX', KEYS[1], ARGV[i]) == ARGV[i + 1] then
    redis.call('LSET', KEYS[1], ARGV[i], ARGV[i + 2])
  end
end
return 1
