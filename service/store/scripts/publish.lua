#!lua
-- Puts the ratings of a fit in the place of those of the fit that it follows; a fit that others have overtaken is lost.
--
-- KEYS  1 leaderboard  2 history  3 opponents
-- ARGV  1 number of the fit  2 how many results it is made from  3 leaderboard
--       4.. bot id, its history ('' if that stays as it is) and its opponents, in turn
-- Gives 1 if it stands, by this call or an earlier one; 0 if another has its number, or the one before isn't there.
local now = redis.call('HMGET', KEYS[1], 'number', 'body')
if now[1] == ARGV[1] then return now[2] == ARGV[3] and 1 or 0 end
if tonumber(now[1] or 0) + 1 ~= tonumber(ARGV[1]) then return 0 end

for i = 4, #ARGV, 3 do
  if ARGV[i + 1] ~= '' then redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1]) end
  redis.call('HSET', KEYS[3], ARGV[i], ARGV[i + 2])
end
redis.call('HSET', KEYS[1], 'number', ARGV[1], 'results', ARGV[2], 'body', ARGV[3])
return 1
