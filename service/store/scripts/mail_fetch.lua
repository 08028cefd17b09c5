#!lua flags=allow-oom
-- Takes calls out of a bot's mailbox, each for this reader alone, and marks that the bot has polled. Runs when memory is
-- short, too: there is less of it afterwards, and a bot that is kept from polling would be blamed for that.
--
-- KEYS  1 mark of the bot's last poll  2 list of the ids of what waits  3 calls  4 index of calls by their ends
-- ARGV  1 most calls to take  2 ms the mark lasts  3 ms after its end in which who put a call takes it back himself
-- Gives what was put, oldest first. Of a call that is taken there remains where its answer goes; of one that is too old
-- nothing: nobody waits for it, or the clock was set, and then it is lost.
local now = redis.call('TIME')
local now_ms = now[1] * 1000 + math.floor(now[2] / 1000)
redis.call('SET', KEYS[1], string.format('%.0f', now_ms), 'PX', ARGV[2])
local found = {}
while #found < tonumber(ARGV[1]) do
  local id = redis.call('LPOP', KEYS[2])
  if not id then break end
  local item = redis.call('HGET', KEYS[3], 'item ' .. id)
  local ends = redis.call('ZSCORE', KEYS[4], id)
  if item and ends and tonumber(ends) > now_ms - ARGV[3] then
    redis.call('HDEL', KEYS[3], 'item ' .. id)
    found[#found + 1] = item
  elseif item then
    redis.call('HDEL', KEYS[3], 'item ' .. id, 'to ' .. id)
    redis.call('ZREM', KEYS[4], id)
  end
end
return found
