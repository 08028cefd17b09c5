"""The tie-breaks of a Swiss tournament of two seats, by the FIDE Handbook, C.07 (2024).

They ask how strong those were that a bot met. Rounds that weren't played at the table would distort that, so
two rules of article 16 hold:

- A round that a bot didn't play (a bye, a forfeit by either side, a game that couldn't be played, a round
  after it withdrew) counts as one against a dummy that ends with as many points as the bot itself.
- For those who met it, a bot that withdrew has half a point for each game of the rounds drawn without it:
  who beat the leader early doesn't suffer from the leader's going home.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from bot_sdk.results.attendance import Attendance, Rounds, legs_of
from bot_sdk.results.tally import match_points
from bot_sdk.results.values import GameState, Result


class Met(NamedTuple):
    """One round of a bot: whom it met, None for the dummy, and the points it made in it."""

    opponent: str | None
    points: float


class Buchholz:
    """Works out the tie-breaks; `points` are those of the standings, byes and forfeits included."""

    def __init__(
        self,
        rounds: Rounds,
        results: Iterable[Result],
        *,
        points: Mapping[str, float],
        attendances: Mapping[str, Attendance],
        deals: str,
    ) -> None:
        """Gather whom each bot met. A round without a result yet doesn't count before it has one."""
        self._points = points
        self._attendances = attendances
        self._games = legs_of(2, deals)
        self._met = _meetings(rounds, results)

    def sum(self, bot_id: str, cut: int = 0) -> float:
        """Return the points of those it met, without the `cut` lowest."""
        return sum(sorted(self._strength(bot_id, met) for met in self._rounds(bot_id))[cut:])

    def sonneborn_berger(self, bot_id: str) -> float:
        """Return the sum over its rounds of the points it made x those of the one it met."""
        return sum(met.points * self._strength(bot_id, met) for met in self._rounds(bot_id))

    def _rounds(self, bot_id: str) -> Sequence[Met]:
        absences = self._attendances[bot_id].absences if bot_id in self._attendances else 0
        return [*self._met[bot_id], *[Met(None, 0)] * absences]

    def _strength(self, bot_id: str, met: Met) -> float:
        if met.opponent is None:
            return self._points[bot_id]
        held = self._attendances.get(met.opponent)
        return self._points[met.opponent] + (held.absences * self._games / 2 if held else 0)


def _meetings(rounds: Rounds, results: Iterable[Result]) -> Mapping[str, list[Met]]:
    by_table: dict[tuple[int, int], list[Result]] = defaultdict(list)
    for result in results:
        by_table[result.slot.round, result.slot.table].append(result)
    met: dict[str, list[Met]] = defaultdict(list)
    for drawn in rounds.values():
        for bot_id in drawn.byes:
            met[bot_id].append(Met(None, 1))
    for legs in by_table.values():
        were_played = any(_was_played(leg) for leg in legs)
        for bot_id, other in zip(legs[0].bots, reversed(legs[0].bots), strict=True):
            made = sum(match_points(leg)[leg.bots.index(bot_id)] for leg in legs)
            met[bot_id].append(Met(other if were_played else None, made))
    return met


def _was_played(result: Result) -> bool:
    return result.state in {GameState.FINISHED, GameState.VOID} and not result.forfeited
