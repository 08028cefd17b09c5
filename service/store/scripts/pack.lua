#!lua flags=allow-oom
-- Puts the packed form of a game that has ended in the place of its meta, log and secret, if they are as its maker has
-- seen them. Runs when memory is short, too: it frees some.
--
-- KEYS  1 meta  2 log  3 secret  4 packed  5 notes
-- ARGV  1 packed form  2 packed notes, '' if there are none  3 SHA-1 of the lines of the log, joined by line breaks
--       4.. field of the meta and its value as seen, in turn: all of them
-- Gives 1 if it is packed so, by this call or an earlier one; 0 if something else is there.
if redis.call('EXISTS', KEYS[1]) == 0 then return redis.call('GET', KEYS[4]) == ARGV[1] and 1 or 0 end
if redis.call('HLEN', KEYS[1]) ~= (#ARGV - 3) / 2 then return 0 end
for i = 4, #ARGV, 2 do
  if redis.call('HGET', KEYS[1], ARGV[i]) ~= ARGV[i + 1] then return 0 end
end
if redis.sha1hex(table.concat(redis.call('LRANGE', KEYS[2], 0, -1), '\n')) ~= ARGV[3] then return 0 end

redis.call('SET', KEYS[4], ARGV[1])
if ARGV[2] ~= '' then redis.call('SET', KEYS[5], ARGV[2]) end
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
return 1
