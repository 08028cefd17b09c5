#!lua flags=allow-oom
-- Notes that some process answers polls now; all of them do so again and again.
--
-- KEYS  1 since when bots could poll
-- ARGV  1 ms after which, if nobody notes it again, nobody answers any more
-- Gives 1.
if redis.call('PEXPIRE', KEYS[1], ARGV[1]) == 0 then
  local now = redis.call('TIME')
  redis.call('SET', KEYS[1], string.format('%.0f', now[1] * 1000 + math.floor(now[2] / 1000)), 'PX', ARGV[1])
end
return 1
