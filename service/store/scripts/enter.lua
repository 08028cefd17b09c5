#!lua
-- Enters a bot into a tournament that hasn't started, changes its entry, or takes it out.
--
-- KEYS  1 tournament  2 entries  3 number of changes
-- ARGV  1 bot id  2 entry, '' to take it out  3 channel to tell
--       4 most entries there may be  5 most of one account, '' if it doesn't matter (neither for taking one out)
-- Gives done (also if an earlier call did it), closed, missing, full, or account_full.
local meta = redis.call('GET', KEYS[1])
if not meta then return 'missing' end
local now = redis.call('HGET', KEYS[2], ARGV[1]) or ''
if now == ARGV[2] then return 'done' end
local state = cjson.decode(string.sub(meta, 18)).state -- after the letters of `put`
if state ~= 'open' then return 'closed' end

local function account_is_full()
  local account = cjson.decode(ARGV[2]).account_id
  if ARGV[5] == '' or account == cjson.null then return false end
  local count = 0
  for _, entry in ipairs(redis.call('HVALS', KEYS[2])) do
    if cjson.decode(entry).account_id == account then count = count + 1 end
  end
  return count >= tonumber(ARGV[5])
end

if ARGV[2] == '' then
  redis.call('HDEL', KEYS[2], ARGV[1])
else
  if now == '' then
    if redis.call('HLEN', KEYS[2]) >= tonumber(ARGV[4]) then return 'full' end
    if account_is_full() then return 'account_full' end
  end
  redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
end
redis.call('INCR', KEYS[3])
redis.call('PUBLISH', ARGV[3], 'changed')
return 'done'
