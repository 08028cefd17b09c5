"""Ladders: one table of two after another, without rounds to wait for, near ratings against each other.

The ratings are only good enough to find a fair opponent: plain Elo over the ladder's own games. What is
published is computed elsewhere, from all games at once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from random import Random

from bot_sdk.results.lots import lot
from bot_sdk.results.values import Round
from service.tournaments.history import seat_pair, seats_taken
from service.tournaments.schedule import Table

AT_ONCE = 4
"""Tables under way at which an entry isn't seated again: a slow bot holds up itself, not the ladder."""

_START = 1500.0
_K = 32
_JITTER = 100.0  # Elo, either way, in each other's rating: so it isn't always the same two who meet
_AHEAD = 1  # tables by which an opponent may be ahead of who has fewest; more, and a popular one would run away


def ladder_tables(
    entries: Sequence[str],
    rounds: Sequence[Round],
    results: Iterable[tuple[str, str, float]],
    *,
    busy: Mapping[str, int],
    count: int,
    seed: int,
) -> list[Table]:
    """Return the next tables, each to be a round of its own; the same for the same arguments and entries in any order.

    `entries` are those who still play, `rounds` all former rounds, with one table each; `results` are games as
    (entry, other entry, what it made of it: 1, ½ or 0), in the order they ended. `busy` counts the tables each
    entry has under way. Returns `count` tables, or fewer if fewer than two entries have less than `AT_ONCE`
    tables under way.

    One of a table is who has had the fewest tables, by lot among equals. Of the others who have had few, too, it
    meets the nearest in rating, after a jitter; nobody meets whom it has just met if there is anybody else. Seat 0
    goes to who has sat there less, then they alternate.
    """
    ladder = _Ladder(entries, rounds, results, busy, seed)
    tables: list[Table] = []
    while len(tables) < count and (table := ladder.draw()):
        tables.append(table)
    return tables


def elo(results: Iterable[tuple[str, str, float]]) -> defaultdict[str, float]:
    """Return Elo ratings after these games, one after another; who hasn't played has 1500."""
    ratings: defaultdict[str, float] = defaultdict(lambda: _START)
    for one, other, score in results:
        expected = 1 / (1 + 10 ** ((ratings[other] - ratings[one]) / 400))
        ratings[one] += _K * (score - expected)
        ratings[other] -= _K * (score - expected)
    return ratings


class _Ladder:
    def __init__(
        self,
        entries: Sequence[str],
        rounds: Sequence[Round],
        results: Iterable[tuple[str, str, float]],
        busy: Mapping[str, int],
        seed: int,
    ) -> None:
        self._entries = sorted(entries)
        self._seed = seed
        self._number = len(rounds)
        self._taken = seats_taken(rounds)
        self._ratings = elo(results)
        self._busy = Counter(busy)
        self._last: dict[str, str] = {}
        for round_ in rounds:
            for table in round_.tables:
                self._last.update(zip(table, reversed(table), strict=True))

    def draw(self) -> Table | None:
        """Seat two; None if fewer than two can be."""
        free = [bot_id for bot_id in self._entries if self._busy[bot_id] < AT_ONCE]
        if len(free) < 2:
            return None
        self._number += 1
        one = min(free, key=lambda bot_id: (self._tables(bot_id), lot(self._seed, f"{self._number}/{bot_id}")))
        other = self._opponent(one, [bot_id for bot_id in free if bot_id != one])
        return self._seated(one, other)

    def _opponent(self, one: str, others: Sequence[str]) -> str:
        new = [other for other in others if self._last.get(one) != other and self._last.get(other) != one] or others
        most = min(self._tables(other) for other in new) + _AHEAD
        rng = Random(f"ladder/{self._seed}/{self._number}")
        gaps = {
            other: abs(self._ratings[other] - self._ratings[one] + _JITTER * (2 * rng.random() - 1))
            for other in new
            if self._tables(other) <= most
        }
        return min(gaps, key=gaps.__getitem__)

    def _seated(self, one: str, other: str) -> Table:
        table = seat_pair((one, other), self._taken, self._seed)
        for seat, bot_id in enumerate(table):
            self._taken[bot_id].append(seat)
        self._busy.update(table)
        self._last.update(zip(table, reversed(table), strict=True))
        return table

    def _tables(self, bot_id: str) -> int:
        return len(self._taken[bot_id])
