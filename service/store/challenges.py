"""Counts checks of bots by whom they reach and who wants them, so that the arena can't be used to hammer a host.

A check counts for a day. What it counts against is kept as a hash only: a list of all hosts is nobody's business.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from service.store import keys
from service.store.lua import Scripts

if TYPE_CHECKING:
    from redis import Redis

DAY_MS: Final = 24 * 3_600_000


class Challenges:
    """The checks of the last 24 hours, by anything that has a limit of them."""

    def __init__(self, redis: Redis) -> None:
        self._scripts = Scripts(redis)

    def admit(self, whose: str, check_id: str, most: int) -> int:
        """Count a check against `whose` limit of `most` a day; give 0, or the ms to wait if there is no room.

        `whose` is a text of any length, such as `host example.org`. The same check again is counted once.
        """
        name = keys.challenges(hashlib.sha256(whose.encode()).hexdigest())
        return int(self._scripts.run("admit", [name], [check_id, most, DAY_MS]))
