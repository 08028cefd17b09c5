"""The last games of each bot that have ended and may be read by all, and how it did in each, for everybody.

A list is capped, newest first, and adding the same game twice adds it once (`newest`). It names no one: of a game it
has the id, of the rest numbers. It outlives the games in it, by which readers are to expect ids of games that are gone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from service.store import keys, listing, newest
from service.store.newest import Added

if TYPE_CHECKING:
    from collections.abc import Mapping

    from redis import Redis

KEPT = 200
"""So many games of each bot, of all rulesets together: about 50 KB."""


class Appearance(msgspec.Struct, frozen=True, array_like=True):
    """One bot in one game, which ended `at` that Unix ms: at its `seats`, one or more.

    `totals` and `places` are those of the whole table by seat, no places where there is no winner. `outcomes` counts
    the decisions of all its seats; `times` those by how long they took: pairs of the number of a class
    (`referee.appearing`) and how many fell into it.
    Kept without names, so what is new comes last and has a default.
    """

    game_id: str
    at: int
    ruleset: str
    seats: list[int]
    totals: list[int]
    places: list[int] | None
    is_retired: bool
    outcomes: dict[str, int]
    times: list[tuple[int, int]]


class AppearanceStore:
    """The last `keep` appearances of each bot."""

    def __init__(self, redis: Redis, *, keep: int = KEPT) -> None:
        self._redis = redis
        self._keep = keep

    def add(self, by_bot: Mapping[str, Appearance]) -> None:
        """Add a game to the lists of its bots, in one round trip; a list that is damaged stays as it is."""
        added = (Added(keys.bot_appearances(bot_id), each.at, each.game_id, each) for bot_id, each in by_bot.items())
        newest.add(self._redis, added, keep=self._keep)

    def all_of(self, bot_id: str) -> list[Appearance]:
        """Give all that is kept of a bot, newest first."""
        return self.page(bot_id, limit=self._keep)[0]

    def page(self, bot_id: str, *, limit: int, cursor: str | None = None) -> tuple[list[Appearance], str | None]:
        """Give up to `limit` appearances of a bot, newest first, and the next cursor; or BadCursorError."""
        names, following = listing.page(self._redis, keys.bot_appearances(bot_id), limit=limit, cursor=cursor)
        return newest.values(names, Appearance), following
