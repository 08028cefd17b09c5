"""Who was there: what the rounds say of an entry that its results don't."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from bot_sdk.results.values import GameState, Result, Round

Rounds: TypeAlias = Mapping[int, Round]
"""The rounds drawn so far, by number."""

Place: TypeAlias = tuple[int, int, int]
"""Round, table and leg."""


@dataclass(slots=True)
class Attendance:
    """One bot's rounds: those it sat out, those drawn without it, and its games that weren't played.

    `absences` are rounds of a Swiss in which it neither sits nor has a bye: it had withdrawn.
    """

    byes: int = 0
    absences: int = 0
    missing: int = 0


def attendance(
    bots: Iterable[str], rounds: Rounds, results: Iterable[Result], *, deals: str, is_swiss: bool
) -> dict[str, Attendance]:
    """Return the attendance of each of the bots.

    A game is missing until it has ended `finished` or `void`: it may be running, wait, have been aborted to
    the last attempt, or have been cancelled. In a Swiss every bot is drawn in every round until it withdraws,
    so there the games of the later rounds are missing too.
    """
    held = {bot_id: Attendance() for bot_id in bots}
    played = {place_of(result) for result in results if result.state in {GameState.FINISHED, GameState.VOID}}
    for number, drawn in rounds.items():
        for table, seated in enumerate(drawn.tables, 1):
            lacking = sum((number, table, leg) not in played for leg in range(legs_of(len(seated), deals)))
            for bot_id in held.keys() & seated:
                held[bot_id].missing += lacking
        for bot_id in held.keys() & drawn.byes:
            held[bot_id].byes += 1
        for bot_id in _absent(held, drawn) if is_swiss else ():
            held[bot_id].absences += 1
            held[bot_id].missing += max((legs_of(len(seated), deals) for seated in drawn.tables), default=1)
    return held


def _absent(bots: Mapping[str, Attendance], drawn: Round) -> set[str]:
    return set(bots).difference(drawn.byes, *drawn.tables)


def place_of(result: Result) -> Place:
    """Return the place of a result in its tournament."""
    return result.slot.round, result.slot.table, result.slot.leg


def legs_of(seats: int, deals: str) -> int:
    """Return how many games a table plays: with `rotate` one for each seat, else one."""
    return seats if deals == "rotate" else 1
