"""`Arena`: a client of the whole HTTP API of an arena, one method an operation, a module for each thing it is about.

Answers are values (`bot_sdk.answers`), lists are iterators that ask for a page when it is come to, refusals are
`ArenaError` with the problem's stable `code`. Every call has a deadline. Calls are tried again when the connection
breaks or the arena says after how long to: those that create carry an ``Idempotency-Key``, so the arena answers a
repeat with what it made the first time; all others do no more twice than once.
"""

from bot_sdk.client.arena import Arena
from bot_sdk.transport import ArenaError

__all__ = ["Arena", "ArenaError"]
