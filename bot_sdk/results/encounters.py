"""Who got the better of whom: the encounters of one game, two bots at a time.

A table of Seven Up is one encounter, one of River as many as it has pairs. The better place wins it; places
already put the seats that retired behind all others (docs/rules.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TypeAlias

from bot_sdk.results.values import GameState, Result

Encounter: TypeAlias = tuple[str, str, float]
"""Two bots and the points of the first, 1, ½ or 0; the other's are the rest to 1."""


def decided(result: Result) -> Iterator[Encounter]:
    """Yield the encounters of a finished game. A bot that forfeited meets nobody, and in a void game nobody does.

    Raises ValueError if a finished game has no places.
    """
    if result.state is not GameState.FINISHED:
        return
    places, bots = places_of(result), result.bots
    for one, other in combinations(counted_seats(result), 2):
        mine, theirs = places[one], places[other]
        yield bots[one], bots[other], 0.5 if mine == theirs else 1.0 if mine < theirs else 0.0


def counted_seats(result: Result) -> list[int]:
    """List the seats that didn't forfeit the game."""
    return [seat for seat in range(len(result.bots)) if seat not in result.forfeited]


def places_of(result: Result) -> list[int]:
    """Return the places of a finished game; raises ValueError if it has none."""
    if result.places is None:
        raise ValueError(f"expected the places of the finished game {result.game_id}, got none")
    return result.places
