#!lua flags=allow-oom
-- Writes a line into a list that keeps its newest ones, or writes it anew; what is too old goes. Runs when memory is
-- short, too: what takes away, such as a token, has its line first.
--
-- KEYS  1 index  2 lines
-- ARGV  1 member of the index, `<15 digits>:<id>`  2 id  3 line  4 most lines to keep
-- Gives 1.
redis.call('ZADD', KEYS[1], 0, ARGV[1])
redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
local excess = redis.call('ZCARD', KEYS[1]) - tonumber(ARGV[4])
if excess > 0 then
  for _, member in ipairs(redis.call('ZRANGE', KEYS[1], 0, excess - 1)) do
    redis.call('HDEL', KEYS[2], string.sub(member, 17))
  end
  redis.call('ZREMRANGEBYRANK', KEYS[1], 0, excess - 1)
end
return 1
