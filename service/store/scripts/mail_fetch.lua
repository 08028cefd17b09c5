#!lua
-- Takes calls out of a bot's mailbox, each for this reader alone, and marks that the bot has polled. What can't be
-- answered in time any more is left out.
--
-- KEYS  1 mark of the bot's last poll  2 list of the ids of what waits  3 calls  4 index of calls by their ends
-- ARGV  1 most calls to take  2 ms the mark lasts
-- Gives what was put, oldest first. Of a call that is taken there remains where its answer goes.
redis.call('SET', KEYS[1], '1', 'PX', ARGV[2])
local now = redis.call('TIME')
local now_ms = now[1] * 1000 + math.floor(now[2] / 1000)
local found = {}
while #found < tonumber(ARGV[1]) do
  local id = redis.call('LPOP', KEYS[2])
  if not id then break end
  local item = redis.call('HGET', KEYS[3], 'item ' .. id)
  local ends = redis.call('ZSCORE', KEYS[4], id)
  if item and ends and tonumber(ends) > now_ms then
    redis.call('HDEL', KEYS[3], 'item ' .. id)
    found[#found + 1] = item
  end
end
return found
