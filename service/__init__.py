"""The arena: keeps games in Redis and asks registered bots for their decisions."""
