#!lua flags=allow-oom
-- Takes a call back that its process put: at its deadline, or because the bot is gone. After that nobody can answer it.
--
-- KEYS  1 calls  2 index of calls by their ends  3 list of the ids of what waits
--       4 mark of the bot's last poll: only if it is gone, and has not fetched the call, is that taken back
-- ARGV  1 id of the call  2 stream for the answer
-- Gives 0 if it has been answered, or put anew by another process, or is lost; 1 if it was taken back unfetched, 2 if it
-- had been fetched; 3 if it stays, since it has been fetched or the bot still polls.
if redis.call('HGET', KEYS[1], 'to ' .. ARGV[1]) ~= ARGV[2] then return 0 end
local waits = redis.call('HEXISTS', KEYS[1], 'item ' .. ARGV[1]) == 1
if KEYS[4] and (not waits or redis.call('EXISTS', KEYS[4]) == 1) then return 3 end
redis.call('HDEL', KEYS[1], 'to ' .. ARGV[1], 'item ' .. ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[1])
if not waits then return 2 end
redis.call('LREM', KEYS[3], 1, ARGV[1])
return 1
