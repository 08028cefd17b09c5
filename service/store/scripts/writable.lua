#!lua
-- Writes nothing, but is refused whenever a write would be: out of memory, read-only, or unable to save.
--
-- KEYS  none
-- Gives 1.
return 1
