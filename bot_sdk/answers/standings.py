"""What the arena says of the results of tournaments."""

from __future__ import annotations

from bot_sdk.answers.base import Answer


class MeanView(Answer, frozen=True, kw_only=True):
    """A mean with its 95% interval over boards, as far as there are any."""

    mean: float | None
    low: float | None
    high: float | None


class StandingView(Answer, frozen=True, kw_only=True):
    """One entry's line of the standings; `outcomes` count its decisions, `tiebreaks` come in the order they are used.

    `reached` is the last round of a knockout it was in.
    """

    place: int
    bot_id: str
    name: str
    games: int
    points: float
    mean: MeanView
    wins: int
    byes: int
    forfeits: int
    forfeit_wins: int
    retirements: int
    voids: int
    aborted: int
    missing: int
    is_withdrawn: bool
    reached: int | None
    outcomes: dict[str, int]
    tiebreaks: dict[str, float | None]


class Method(Answer, frozen=True, kw_only=True):
    """How standings come about, in words."""

    score: str
    mean: str
    tiebreaks: list[str]
    interval: str


class Standings(Answer, frozen=True, kw_only=True):
    """The standings by so many `results`."""

    items: list[StandingView]
    next_cursor: str | None
    results: int
    is_final: bool
    method: Method


class CellView(Answer, frozen=True, kw_only=True):
    """What one entry made of its games against another; `superiority` is how likely it is the better of the two."""

    games: int
    points: float
    mean: MeanView
    superiority: float | None
    forfeits: int
    forfeit_wins: int
    voids: int


class CrosstableRow(Answer, frozen=True, kw_only=True):
    """One entry's games against each other entry, in the order of the standings; None against itself."""

    place: int
    bot_id: str
    name: str
    cells: list[CellView | None]


class Crosstable(Answer, frozen=True, kw_only=True):
    """Everybody against everybody."""

    items: list[CrosstableRow]
    next_cursor: str | None
    results: int
