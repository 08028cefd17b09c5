#!lua flags=allow-oom
-- Takes a call back that its process put: at its deadline, or because the bot is gone. After that nobody can answer it.
--
-- KEYS  1 calls  2 index of calls by their ends  3 list of the ids of what waits
--       4 mark of the bot's last poll  5 since when bots could poll: only if the bot is gone, though it could poll, and
--       has not fetched the call, is that taken back
-- ARGV  1 id of the call  2 stream for the answer  3 ms in which a bot polls that can, with KEYS 4 and 5
-- Gives 0 if it has been answered, or put anew by another process, or is lost; 1 if it was taken back unfetched, 2 if it
-- had been fetched; 3 if it stays, since it has been fetched, or the bot still polls or couldn't.
if redis.call('HGET', KEYS[1], 'to ' .. ARGV[1]) ~= ARGV[2] then return 0 end
local waits = redis.call('HEXISTS', KEYS[1], 'item ' .. ARGV[1]) == 1
if KEYS[4] then
  local now = redis.call('TIME')
  local since = redis.call('GET', KEYS[5])
  local could = since and now[1] * 1000 + math.floor(now[2] / 1000) - since >= tonumber(ARGV[3])
  if not waits or not could or redis.call('EXISTS', KEYS[4]) == 1 then return 3 end
end
redis.call('HDEL', KEYS[1], 'to ' .. ARGV[1], 'item ' .. ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[1])
if not waits then return 2 end
redis.call('LREM', KEYS[3], 1, ARGV[1])
return 1
