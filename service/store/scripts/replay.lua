#!lua
-- Sends a dead letter again under another id, once: its old id is marked, so that nobody sends it twice.
--
-- KEYS  1 dead letters of a queue  2 their texts  3 the queue  4 its texts  5 mark
-- ARGV  1 id of the letter  2 its text as seen  3 new id  4 new text  5 ms that the mark stays
-- Gives 1 if it was sent, by this call or an earlier one; 0 if the letter isn't there, or isn't as seen.
if redis.call('EXISTS', KEYS[5]) == 1 then return 1 end
if redis.call('HGET', KEYS[2], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[4], ARGV[3], ARGV[4])
redis.call('RPUSH', KEYS[3], ARGV[3])
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('HDEL', KEYS[2], ARGV[1])
redis.call('SET', KEYS[5], '1', 'PX', ARGV[5])
return 1
