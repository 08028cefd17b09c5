"""Who made what of whom: a crosstable where it fits on a page, else one bot against all others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bot_sdk.results.crosstable import Cell, CrosstableRow
from bot_sdk.results.intervals import Interval
from service.arena.overviews import Overview
from service.web.tournament.standings import interval
from service.web.writing import decimal, halves, percent

MATRIX: Final = 14
"""So many entries fit into a crosstable on a page."""
SURE: Final = 0.975
"""The likelihood from which one of two is called the better."""


@dataclass(frozen=True, slots=True)
class Meeting:
    """What a bot made of another: points, of how many games, mean, and who is better if that is clear."""

    points: str
    games: int
    mean: str
    interval: str
    drawn: Interval
    superiority: str
    verdict: str
    forfeits: int
    forfeit_wins: int
    voids: int


@dataclass(frozen=True, slots=True)
class Row:
    """A bot and its meetings in the order of the standings; None for itself and whom it never met."""

    place: int
    bot_id: str
    name: str
    meetings: list[Meeting | None]


def matrix(shown: Overview) -> list[Row] | None:
    """Give the whole crosstable, None if it is too big for a page."""
    if len(shown.rows) > MATRIX:
        return None
    return [_row(shown.against(at)) for at in range(len(shown.rows))]


def pairs(shown: Overview, bot_id: str) -> Row:
    """Give one bot's row, the leader's if no such bot is entered."""
    at = next((at for at, row in enumerate(shown.standings) if row.bot_id == bot_id), 0)
    return _row(shown.against(at))


def _row(row: CrosstableRow) -> Row:
    return Row(row.place, row.bot_id, row.name, [None if cell is None else _meeting(cell) for cell in row.cells])


def _meeting(cell: Cell) -> Meeting:
    return Meeting(
        points=halves(cell.points),
        games=cell.games,
        mean=decimal(cell.mean.mean),
        interval=interval(cell.mean),
        drawn=cell.mean,
        superiority=percent(cell.superiority),
        verdict=_verdict(cell.superiority),
        forfeits=cell.forfeits,
        forfeit_wins=cell.forfeit_wins,
        voids=cell.voids,
    )


def _verdict(superiority: float | None) -> str:
    if superiority is None or 1 - SURE < superiority < SURE:
        return ""
    return "better" if superiority >= SURE else "worse"
