#!lua
-- Puts a call into the mailbox of a bot that fetches its calls, if that has looked into it of late. Put twice, the same
-- call is there once: what was fetched or answered meanwhile is there anew. What is long over is thrown away.
--
-- KEYS  1 mark of the bot's last poll  2 list of the ids of what waits  3 calls  4 index of calls by their ends
--       5 since when bots could poll, and when that was noted last
-- ARGV  1 id of the call  2 what the bot is given  3 stream for the answer  4 ms it may be fetched
--       5 ms it is kept after that  6 channel to tell  7 ms in which a bot polls that can
-- Gives the microsecond at which it was there, 0 if the bot doesn't poll, -1 if nobody answers polls, or it may be that
-- the bot couldn't: it is gone only if it hasn't polled for so long while it is known that it could. A mark from the
-- future is from before the clock was set back, and tells nothing.
local now = redis.call('TIME')
local now_ms = now[1] * 1000 + math.floor(now[2] / 1000)
local polled = tonumber(redis.call('GET', KEYS[1]) or 0)
if polled > now_ms then polled = 0 end
local open = redis.call('HMGET', KEYS[5], 'since', 'last')
if not open[2] or tonumber(open[2]) > now_ms then return -1 end
if now_ms - polled >= tonumber(ARGV[7]) then
  return open[2] - math.max(polled, tonumber(open[1])) >= tonumber(ARGV[7]) and 0 or -1
end
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[4], '-inf', now_ms - ARGV[5], 'LIMIT', 0, 100)) do
  redis.call('HDEL', KEYS[3], 'item ' .. id, 'to ' .. id)
  redis.call('ZREM', KEYS[4], id)
end
redis.call('HSET', KEYS[3], 'item ' .. ARGV[1], ARGV[2], 'to ' .. ARGV[1], ARGV[3])
redis.call('ZADD', KEYS[4], now_ms + ARGV[4], ARGV[1])
redis.call('RPUSH', KEYS[2], ARGV[1])
local kept_ms = ARGV[4] + ARGV[5]
for i = 2, 4 do
  if redis.call('PTTL', KEYS[i]) < kept_ms then redis.call('PEXPIRE', KEYS[i], kept_ms) end
end
redis.call('PUBLISH', ARGV[6], 'mail')
return now[1] * 1000000 + now[2]
