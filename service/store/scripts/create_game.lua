#!lua
-- Keeps a new game, its secret and the tokens of its seats in one step; never touches a game that is there.
--
-- KEYS  1 meta  2 secret  3 tokens  4 packed
-- ARGV  1 body  2 secret  3 state (open or running)  4.. pairs of seat and token hash
-- Gives 1 if the game stands as given, by this call or an earlier one whose answer was lost; 0 if another has this id,
-- 2 if one that is packed has it.
local body = redis.call('HGET', KEYS[1], 'body')
if body then return body == ARGV[1] and 1 or 0 end
if redis.call('EXISTS', KEYS[4]) == 1 then return 2 end

redis.call('SET', KEYS[2], ARGV[2])
redis.call('DEL', KEYS[3])
for i = 4, #ARGV, 2 do
  redis.call('HSET', KEYS[3], ARGV[i], ARGV[i + 1])
end
redis.call('HSET', KEYS[1], 'body', ARGV[1], 'state', ARGV[3])
if ARGV[3] == 'running' then
  local time = redis.call('TIME')
  redis.call('HSET', KEYS[1], 'started_at', string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000)))
end
return 1
