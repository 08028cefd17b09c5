#!lua
-- Enters a bot into a tournament that hasn't started, changes its entry, or takes it out.
--
-- KEYS  1 tournament  2 entries  3 number of changes
-- ARGV  1 bot id  2 entry, '' to take it out  3 channel to tell
-- Gives done (also if an earlier call did it), closed, or missing.
local meta = redis.call('GET', KEYS[1])
if not meta then return 'missing' end
if (redis.call('HGET', KEYS[2], ARGV[1]) or '') == ARGV[2] then return 'done' end
local state = cjson.decode(string.sub(meta, 18)).state -- after the letters of `put`
if state ~= 'draft' and state ~= 'open' then return 'closed' end
if ARGV[2] == '' then
  redis.call('HDEL', KEYS[2], ARGV[1])
else
  redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
end
redis.call('INCR', KEYS[3])
redis.call('PUBLISH', ARGV[3], 'changed')
return 'done'
