#!lua flags=no-writes
-- Tells how far one game is and who holds its seats, as of one moment.
--
-- KEYS  1 meta  2 log  3 tokens
-- Gives {state, started_at, length of the log, stamp (ms) of its last event, seat, token hash, seat, token hash, …};
-- '' for what isn't there.
local meta = redis.call('HMGET', KEYS[1], 'state', 'started_at')
local line = redis.call('LINDEX', KEYS[2], -1) or ''
local space = string.find(line, ' ', 1, true) or 1
local seen = {meta[1] or '', meta[2] or '', redis.call('LLEN', KEYS[2]), string.sub(line, 1, space - 1)}
for _, each in ipairs(redis.call('HGETALL', KEYS[3])) do
  seen[#seen + 1] = each
end
return seen
