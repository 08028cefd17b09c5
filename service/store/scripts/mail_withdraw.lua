#!lua flags=allow-oom
-- Takes a call back that its process put: at its deadline, or because the bot is gone. After that nobody can answer it.
--
-- KEYS  1 calls  2 index of calls by their ends  3 list of the ids of what waits
--       4 since when bots could poll, and when that was noted last
--       5 mark of the bot's last poll: only if the bot is gone, though it could poll (see mail_put), and has not fetched
--       the call, is that taken back
-- ARGV  1 id of the call  2 stream for the answer  3 with KEYS 5 the ms in which a bot polls that can; without, when the
--       call was put
-- Gives 0 if it has been answered, or put anew by another process, or is lost; 1 if it was taken back unfetched, 2 if it
-- had been fetched; 3 if it stays, since it has been fetched, or the bot still polls or couldn't; -1 if it was taken back
-- at its deadline, and nobody answered the bot for a while since it was put.
if redis.call('HGET', KEYS[1], 'to ' .. ARGV[1]) ~= ARGV[2] then return 0 end
local waits = redis.call('HEXISTS', KEYS[1], 'item ' .. ARGV[1]) == 1
local open = redis.call('HMGET', KEYS[4], 'since', 'last')
local since, last = tonumber(open[1] or 0), tonumber(open[2] or 0)
if KEYS[5] then
  local now = redis.call('TIME')
  local now_ms = now[1] * 1000 + math.floor(now[2] / 1000)
  local polled = tonumber(redis.call('GET', KEYS[5]) or 0)
  if polled > now_ms then polled = 0 end
  local is_gone = last <= now_ms and last - math.max(polled, since) >= tonumber(ARGV[3])
  if not waits or not is_gone then return 3 end
end
redis.call('HDEL', KEYS[1], 'to ' .. ARGV[1], 'item ' .. ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[1])
if waits then redis.call('LREM', KEYS[3], 1, ARGV[1]) end
if not KEYS[5] and (last == 0 or since > tonumber(ARGV[3])) then return -1 end
return waits and 1 or 2
