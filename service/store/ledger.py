"""What bots did lately, for their owners: each decision with its time and error, and how their games ended.

Both lists are capped, newest first, and adding the same line twice adds it once (`newest`). A bot that did nothing for
a quarter of a year loses them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from bot_sdk.events import Outcome
from service.store import keys, listing, newest
from service.store.newest import Added

if TYPE_CHECKING:
    from collections.abc import Iterable

    from redis import Redis


class LedgerLine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One decision of a bot: `at` in Unix ms, `ms` the time it took, `head` the beginning of its answer."""

    bot_id: str
    decision_id: str
    game_id: str
    at: int
    outcome: Outcome
    ms: float
    action: str | None = None
    error: str | None = None
    status: int | None = None
    head: str | None = None


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """How one game, which `began` and ended at these Unix ms, went for a bot.

    `is_harsh`: somebody else set it limits shorter than the usual ones, so its faults say little about it.
    """

    bot_id: str
    game_id: str
    at: int
    began: int = 0
    retired: bool
    forfeited: bool = False
    is_harsh: bool = False


class Ledger:
    """The last `keep` decisions and the last `keep_endings` endings of each bot."""

    def __init__(self, redis: Redis, *, keep: int = 1_000, keep_endings: int = 50) -> None:
        self._redis = redis
        self._keep = keep
        self._keep_endings = keep_endings

    def add(self, lines: Iterable[LedgerLine]) -> None:
        """Write down decisions, of any bots, in one round trip; those of a bot whose list is damaged are lost."""
        added = (Added(keys.bot_ledger(line.bot_id), line.at, line.decision_id, line) for line in lines)
        newest.add(self._redis, added, keep=self._keep)

    def add_endings(self, endings: Iterable[Ending]) -> None:
        """Write down how games ended, of any bots, in one round trip; lost where `add` loses."""
        added = (Added(keys.bot_endings(ending.bot_id), ending.at, ending.game_id, ending) for ending in endings)
        newest.add(self._redis, added, keep=self._keep_endings)

    def lines(self, bot_id: str, *, limit: int, cursor: str | None = None) -> tuple[list[LedgerLine], str | None]:
        """Give up to `limit` decisions of a bot, newest first, and the next cursor; or BadCursorError."""
        names, following = listing.page(self._redis, keys.bot_ledger(bot_id), limit=limit, cursor=cursor)
        return newest.values(names, LedgerLine), following

    def endings(self, bot_id: str, *, limit: int) -> list[Ending]:
        """Give how the last `limit` games of a bot ended, newest first."""
        names, _ = listing.page(self._redis, keys.bot_endings(bot_id), limit=limit, cursor=None)
        return newest.values(names, Ending)
