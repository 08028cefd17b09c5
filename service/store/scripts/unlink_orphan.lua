#!lua flags=allow-oom
-- Takes a key away whose owner is gone. Runs when memory is short, too: it frees some.
--
-- KEYS  1 the key  2.. keys of which its owner would have one
-- ARGV  none
-- Gives 1 if it is gone, by this call or before; 0 if its owner is there.
for i = 2, #KEYS do
  if redis.call('EXISTS', KEYS[i]) == 1 then return 0 end
end
redis.call('UNLINK', KEYS[1])
return 1
