"""What a game that has ended says of the bots in it: how often they answered how, and how quickly. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from typing import Final

from bot_sdk.events import Decided, Outcome
from bot_sdk.games.game import Game as Play
from bot_sdk.results.values import GameState
from service.store.appearances import Appearance
from service.store.entities import Game

EDGES: Final = tuple(float(f"{step}e{power}") for power in range(-1, 5) for step in ("1", "1.5", "2", "3", "5", "7"))
"""Where one class of times ends and the next begins, in ms. Of two digits at most, as the times of a log are, so that
none lies on both sides of one. What is kept counts by the number of a class, so these never change."""

UNTIMED: Final = frozenset({Outcome.UNREACHABLE, Outcome.RETIRED, Outcome.OUR_FAULT})
"""Decisions whose time says nothing of how quick the bot is: nobody was there, or nobody was asked."""


def class_of(ms: float) -> int:
    """Give the number of the class of a time: class n goes from `EDGES[n - 1]`, included, to `EDGES[n]`."""
    return bisect_right(EDGES, ms)


def appearances(meta: Game, state: GameState, play: Play, ended_at: int) -> dict[str, Appearance]:
    """Say how each bot and house bot of a game did, by its id; one that sits there twice is counted as one."""
    seats: dict[str, list[int]] = {}
    for number, seat in enumerate(meta.seats):
        if seat.bot_id is not None:
            seats.setdefault(seat.bot_id, []).append(number)
    places = play.places if state is GameState.FINISHED else None
    return {
        bot_id: Appearance(
            game_id=meta.id,
            at=ended_at,
            ruleset=meta.ruleset,
            seats=own,
            totals=play.state.totals,
            places=places,
            is_retired=any(play.retired[seat] is not None for seat in own),
            outcomes=_outcomes(play, own),
            times=_times(play, own),
        )
        for bot_id, own in seats.items()
    }


def _outcomes(play: Play, seats: Iterable[int]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for seat in seats:
        counts.update({outcome.value: count for outcome, count in play.outcomes[seat].items()})
    return dict(counts)


def _times(play: Play, seats: Iterable[int]) -> list[tuple[int, int]]:
    own = frozenset(seats)
    timed = (event for event in play.log if isinstance(event, Decided) and event.seat in own)
    return sorted(Counter(class_of(event.ms) for event in timed if event.outcome not in UNTIMED).items())
