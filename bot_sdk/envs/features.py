"""An observation as numbers: what `State.observe` tells a seat, block by block, in one vector.

It is made of that and nothing else, so it can't hold more than the seat may know. Seats are counted from the one that
looks: 0 is itself, 1 the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from bot_sdk.cards import NAMES, SUITS, parse_card
from bot_sdk.games.registry import RULESETS
from bot_sdk.games.river import schedule_of
from bot_sdk.games.seven_up import HAND, MOST_RUNS, RUN

Vector: TypeAlias = NDArray[np.float32]
Seen: TypeAlias = dict[str, Any]
Fill: TypeAlias = Callable[[Vector, Seen, int], None]
"""Writes one block: its part of the vector, all zeros yet; what the seat sees; the seat."""

_CARDS: Final = len(NAMES)


@dataclass(frozen=True, slots=True)
class Block:
    """One part of the vector; its numbers go from 0 to `high`."""

    name: str
    size: int
    fill: Fill
    high: float = 1.0


class Layout:
    """Where everything stands in the vector of one ruleset at one table."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        """Lay the blocks out one after another."""
        self._blocks = blocks
        self.slices: dict[str, slice] = {}
        """Where each block is, by its name."""
        at = 0
        for block in blocks:
            self.slices[block.name] = slice(at, at + block.size)
            at += block.size
        self._size = at

    def space(self) -> Box:
        """Give the space of such vectors."""
        high = np.concatenate([np.full(block.size, block.high, np.float32) for block in self._blocks])
        return Box(np.zeros(self._size, np.float32), high, dtype=np.float32)

    def vector(self, phase: str, seen: Seen, seat: int) -> Vector:
        """Put what `seat` sees in `phase` into numbers."""
        vector = np.zeros(self._size, np.float32)
        shown = {"phase": phase, **seen}
        for block in self._blocks:
            block.fill(vector[self.slices[block.name]], shown, seat)
        return vector


def layout(ruleset: str, seats: int, options: dict[str, Any]) -> Layout:
    """Lay out the observations of a ruleset with resolved options at a table of `seats`."""
    if ruleset == "river":
        return Layout([*_shared(ruleset, seats, options["start_cards"]), *_river(seats, options)])
    return Layout([*_shared(ruleset, seats, HAND), *_seven_up(seats, options)])


def _shared(ruleset: str, seats: int, most_tricks: int) -> list[Block]:
    phases = RULESETS[ruleset].phases

    def phase(out: Vector, seen: Seen, _seat: int) -> None:
        if seen["phase"] in phases:
            out[phases.index(seen["phase"])] = 1

    def dealer(out: Vector, seen: Seen, seat: int) -> None:
        out[(seen["dealer"] - seat) % seats] = 1

    def trump(out: Vector, seen: Seen, _seat: int) -> None:
        if seen["trump"]:
            out[SUITS.index(seen["trump"])] = 1

    def leader(out: Vector, seen: Seen, seat: int) -> None:
        if seen["trick"]:
            out[(seen["trick"]["leader"] - seat) % seats] = 1

    def trick(out: Vector, seen: Seen, seat: int) -> None:
        if seen["trick"]:
            _played(out, seen["trick"], seat, 1)

    def tricks(out: Vector, seen: Seen, seat: int) -> None:
        for number, won in enumerate(seen["tricks"]):
            _played(out, won, seat, (1 + number) / most_tricks)

    def _played(out: Vector, shown: Seen, seat: int, value: float) -> None:
        for at, name in enumerate(shown["cards"]):
            out[(shown["leader"] + at - seat) % seats * _CARDS + parse_card(name)] = value

    return [
        Block("phase", len(phases), phase),
        Block("hand", _CARDS, _cards("hand")),
        Block("dealer", seats, dealer),
        Block("trump", len(SUITS), trump),
        Block("leader", seats, leader),
        Block("trick", seats * _CARDS, trick),
        Block("tricks", seats * _CARDS, tricks),
    ]


def _river(seats: int, options: dict[str, Any]) -> list[Block]:
    most, rounds = options["start_cards"], schedule_of(options)
    best = sum(rounds) + 10 * len(rounds)

    def bids(out: Vector, seen: Seen, seat: int) -> None:
        for bidder, bid in enumerate(seen["bids"]):
            if bid is not None:
                out[(bidder - seat) % seats * (most + 1) + bid] = 1

    return [
        Block("upcard", _CARDS, _cards("upcard")),
        Block("deal", 1, _scaled("deal", len(rounds))),
        Block("cards", 1, _scaled("cards", most)),
        Block("bids", seats * (most + 1), bids),
        Block("tricks_won", seats, _by_seat("tricks_won", most)),
        Block("totals", seats, _by_seat("totals", best)),
    ]


def _seven_up(seats: int, options: dict[str, Any]) -> list[Block]:
    def first_upcard(out: Vector, seen: Seen, _seat: int) -> None:
        out[parse_card(seen["upcards"][0])] = 1

    return [
        Block("upcards", _CARDS, _cards("upcards")),
        Block("first_upcard", _CARDS, first_upcard),
        Block("begged", 1, _scaled("begged", 1)),
        Block("discards", _CARDS, _cards("discards")),
        Block("to_discard", 1, _scaled("to_discard", MOST_RUNS * RUN)),
        Block("totals", seats, _by_seat("totals", options["target"]), high=np.inf),  # a tie goes on without end
    ]


def _cards(field: str) -> Fill:
    """Set the bit of each card of a field."""

    def fill(out: Vector, seen: Seen, _seat: int) -> None:
        names: Iterable[str] = [seen[field]] if isinstance(seen[field], str) else seen[field]
        for name in names:
            out[parse_card(name)] = 1

    return fill


def _scaled(field: str, most: float) -> Fill:
    """Give a number as a share of the most it can be."""

    def fill(out: Vector, seen: Seen, _seat: int) -> None:
        out[0] = seen[field] / most

    return fill


def _by_seat(field: str, most: float) -> Fill:
    """Give a number of each seat as a share of the most it can be."""

    def fill(out: Vector, seen: Seen, seat: int) -> None:
        values = seen[field]
        out[:] = [value / most for value in (*values[seat:], *values[:seat])]

    return fill
