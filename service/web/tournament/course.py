"""How the sequential test of a match went: its log-likelihood ratio, pair by pair, between the bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from service.arena.overviews import Overview
from service.web.writing import signed

WIDTH: Final = 720
HEIGHT: Final = 220
POINTS: Final = 400
"""A longer course is drawn by so many of its pairs, and the last one."""
TOLD: Final = 100
"""Pairs in the table: the last ones."""
_MARGIN: Final = 8


@dataclass(frozen=True, slots=True)
class Course:
    """A line as SVG has it, the heights of the bounds and of 0, all ratios as text, those of the last pairs too."""

    test: dict[str, Any]
    ratio: str
    bounds: tuple[str, str]
    challenger: str
    opponent: str
    points: str
    lower: float
    upper: float
    middle: float
    last: list[tuple[int, str]]
    width: int = WIDTH
    height: int = HEIGHT


def course(shown: Overview) -> Course | None:
    """Draw it; None for a tournament without a test, or before its first pair."""
    test = shown.view["test"]
    if test is None or not shown.course:
        return None
    ratios = [0.0, *shown.course]
    least: float = min(test["lower"], *ratios)
    most: float = max(test["upper"], *ratios)

    def height(ratio: float) -> float:
        return round(_MARGIN + (most - ratio) / (most - least) * (HEIGHT - 2 * _MARGIN), 1)

    step = -(-len(ratios) // POINTS)
    drawn = sorted({*range(0, len(ratios), step), len(ratios) - 1})
    names = {entry.bot_id: entry.name for entry in shown.entries}
    return Course(
        test=test,
        ratio=signed(test["llr"]),
        bounds=(signed(test["lower"]), signed(test["upper"])),
        challenger=names.get(test["challenger"], test["challenger"]),
        opponent=names.get(test["opponent"], test["opponent"]),
        points=" ".join(f"{round(at / (len(ratios) - 1) * WIDTH, 1)},{height(ratios[at])}" for at in drawn),
        lower=height(test["lower"]),
        upper=height(test["upper"]),
        middle=height(0.0),
        last=[(at, signed(ratios[at])) for at in range(len(ratios) - 1, 0, -1)][:TOLD],
    )
