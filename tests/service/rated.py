"""Results as closed boards leave them, and a fit in this process."""

from __future__ import annotations

import itertools
from typing import Any

import msgspec

from bot_sdk.results.values import Entry, GameState, Result, Slot
from service.arena.ratings import Ratings
from service.fit.fitted import fitted
from service.store.entities import Tournament
from service.store.leaderboard import Fitted, Kept
from service.store.store import Store

NOW = 1_700_000_000_000
EVERY_MS = 10_000


def fit_here(games: list[bytes]) -> Fitted:
    return fitted([msgspec.json.decode(game, type=Kept) for game in games])


class Season:
    """Tournaments whose results come from a pen: each game on a board of its own unless it is told otherwise."""

    def __init__(self, store: Store, ratings: Ratings, ruleset: str = "river"):
        self.store = store
        self.ratings = ratings
        self.ruleset = ruleset
        self._count = itertools.count(1)
        self.tournament = self._open()

    def _open(self) -> Tournament:
        tournament = Tournament(
            id=f"trn_{self.ruleset}",
            name="season",
            owner="acc_1",
            ruleset=self.ruleset,
            options={},
            table_size=4,
            seed=1,
            root="00",
            created_at=NOW,
        )
        assert self.store.tournaments.create(tournament, secret=bytes(32))
        return tournament

    def enter(self, **names: str) -> None:
        """Enter bots by id, each under a name."""
        for bot_id, name in names.items():
            entry = Entry(bot_id=bot_id, name=name, account_id="acc_1", entered_at=NOW)
            assert self.store.tournaments.enter(self.tournament.id, entry, most=100) == "done"

    def result(self, *bots: str, places: list[int] | None = None, **changes: Any) -> Result:
        """Make a result: bots by seat as ``bot_a`` or, in another version than 1, ``bot_a@2``; the first won."""
        number = next(self._count)
        named = [bot.partition("@") for bot in bots]
        values: dict[str, Any] = {
            "game_id": f"gam_{number}",
            "state": GameState.FINISHED,
            "slot": Slot(tournament_id=self.tournament.id, round=number, table=1, board=f"{number}.1"),
            "bots": [bot for bot, _, _ in named],
            "versions": [version or "1" for _, _, version in named],
            "totals": [0] * len(bots),
            "places": places or list(range(1, len(bots) + 1)),
            "retired": [False] * len(bots),
            "forfeited": [],
            "deals": 1,
            "outcomes": [{} for _ in bots],
            "ended_at": NOW + number,
            "is_rated": True,
        }
        return Result(**(values | changes))

    def play(self, *bots: str, times: int = 1, **changes: Any) -> list[Result]:
        """Have games played and their boards closed."""
        results = [self.result(*bots, **changes) for _ in range(times)]
        self.ratings.take(self.tournament, results)
        return results
