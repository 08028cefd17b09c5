#!lua flags=allow-oom
-- Sends a bot's answer to the process that put the call, the first answer alone. Runs when memory is short, too: what is
-- answered takes less than what was asked.
--
-- KEYS  1 calls  2 index of calls by their ends  3 stream for the answer, as the call has it
-- ARGV  1 bot id  2 id of the call  3 status  4 body  5 ms the answer is kept for who asked
-- Gives 1 if it was taken, 0 if nobody waits for it any more, or another does.
if redis.call('HGET', KEYS[1], 'to ' .. ARGV[2]) ~= KEYS[3] then return 0 end
redis.call('HDEL', KEYS[1], 'to ' .. ARGV[2], 'item ' .. ARGV[2])
redis.call('ZREM', KEYS[2], ARGV[2])
local now = redis.call('TIME')
local at = string.format('%.0f', now[1] * 1000000 + now[2])
redis.call('XADD', KEYS[3], '*', 'bot', ARGV[1], 'id', ARGV[2], 'status', ARGV[3], 'body', ARGV[4], 'at', at)
redis.call('PEXPIRE', KEYS[3], ARGV[5])
return 1
