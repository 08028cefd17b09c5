"""One against each: the gauntlet of a challenger, and the match of two, a gauntlet with a single opponent."""

from __future__ import annotations

from collections.abc import Sequence

from bot_sdk.results.lots import lot
from bot_sdk.results.values import Round
from service.tournaments.errors import ImpossibleScheduleError
from service.tournaments.schedule import check_entries

MATCH_ROUNDS = 100
"""Rounds of a match that says none: a 95% interval of about ±10 points of a percentage of games won."""


def gauntlet(entries: Sequence[str], *, challenger: str, rounds: int | None, seed: int) -> list[Round]:
    """Return rounds in each of which the challenger meets every other entry once, at two seats.

    Its tables share the challenger: they may run side by side only as far as it plays several games at
    once. It sits first at every other table, and in the next round at those where it sat second, so that
    each opponent has either seat in turn. The seed draws the order of the opponents. `rounds` None means
    one. Raises `ImpossibleScheduleError` for a challenger that isn't among the entries, and as
    `round_robin` does.
    """
    check_entries(entries, 2, rounds)
    if challenger not in entries:
        raise ImpossibleScheduleError(f"expected the challenger among the entries, got {challenger!r}")
    others = sorted((bot_id for bot_id in entries if bot_id != challenger), key=lambda bot_id: lot(seed, bot_id))
    return [_gauntlet_round(challenger, others, number) for number in range(1 if rounds is None else rounds)]


def match_rounds(entries: Sequence[str], *, rounds: int | None, seed: int) -> list[Round]:
    """Return the rounds of a match of two: one table each, the first seat in turn, in round 1 by lot.

    `rounds` None means `MATCH_ROUNDS`. Raises `ImpossibleScheduleError` for more or fewer than two entries,
    and as `round_robin` does.
    """
    if len(entries) != 2:
        raise ImpossibleScheduleError(f"expected exactly 2 entries for a match, got {len(entries)}")
    first = min(entries, key=lambda bot_id: lot(seed, bot_id))
    return gauntlet(entries, challenger=first, rounds=MATCH_ROUNDS if rounds is None else rounds, seed=seed)


def _gauntlet_round(challenger: str, others: Sequence[str], number: int) -> Round:
    tables = ((challenger, other) for other in others)
    return Round(tuple(table if at % 2 == number % 2 else table[::-1] for at, table in enumerate(tables)))
