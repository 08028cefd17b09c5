"""The standings as a table: what stands in which column, and what it means."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from bot_sdk.results.intervals import Interval
from bot_sdk.results.standings import Standing
from service.arena.overviews import FAULTS, Overview
from service.web.scale import SHARES, Scale
from service.web.writing import decimal, halves, percent, signed

ROWS: Final = 64
"""Of the standings, on one page."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its head, what it says in a clause, and its text for a bot."""

    label: str
    about: str
    text: Callable[[Standing], str]


@dataclass(frozen=True, slots=True)
class Line:
    """A bot's line: its row, texts before and after the mean, the mean with its interval, and what is odd about it."""

    row: Standing
    before: list[str]
    after: list[str]
    mean: str
    interval: str
    notes: list[str]


@dataclass(frozen=True, slots=True)
class Table:
    """A page of the standings: lines `first` to `last` of `rows`, counted from 1."""

    before: list[Column]
    after: list[Column]
    scale: Scale
    lines: list[Line]
    first: int
    last: int
    rows: int


Written: TypeAlias = tuple[str, str, Callable[[float | None], str]]


def faults(row: Standing) -> int:
    """Count the faults a bot was charged with."""
    return sum(times for outcome, times in row.outcomes.items() if outcome in FAULTS)


def _whole(value: float | None) -> str:
    return decimal(value, 0)


TIEBREAKS: Final[Mapping[str, Written]] = {
    "direct_encounter": (
        "Direct",
        "the mean result in the games between those on the same score, if each of them has met each other",
        decimal,
    ),
    "head_to_head": (
        "Head to head",
        "the mean result between those on the same score, if each has met each other; the better place at a table wins",
        decimal,
    ),
    "buchholz_cut_1": ("Buchholz −1", "the points of all opponents but the lowest, summed up", decimal),
    "buchholz": ("Buchholz", "the points of all opponents, summed up: who had the harder way is ahead", decimal),
    "sonneborn_berger": ("Sonneborn-Berger", "for each game, the result times the opponent's points", decimal),
    "net_points_per_deal": ("Net a deal", "points made minus points conceded, for each deal", signed),
    "wins": ("Wins", "games won at the table, not by forfeit; sharing a first place counts", _whole),
    "exact_bid_rate": ("Exact bids", "bids met exactly, of all bids", percent),
}
"""By their names in the standings: head, meaning, and how a value is written."""

_GAMES: Final = Column("Games", "played to an end, void ones included", lambda row: f"{row.games:,}")
_POINTS: Final = Column("Points", "1 for each game won, by forfeit too", lambda row: halves(row.points))
_REACHED: Final = Column(
    "Reached", "the last round it took part in; one more for the winner", lambda row: str(row.reached or 0)
)
_ODD: Final[Sequence[tuple[Callable[[Standing], int], str, str]]] = (
    (lambda row: row.byes, "Byes", "rounds it sat out"),
    (lambda row: row.forfeit_wins, "Forfeit wins", "games that the opponent forfeited: a point each"),
    (lambda row: row.forfeits, "Forfeits", "games it forfeited: paused, suspended, disabled, deleted or withdrawn"),
    (lambda row: row.retirements, "Retired", "games from which it was retired, for too many faults or by the operator"),
    (lambda row: row.voids, "Void", "games that were worth nothing, since nobody was left who answered"),
    (lambda row: row.aborted, "Aborted", "games that couldn't be played, through no bot's fault"),
    (lambda row: row.missing, "Missing", "games of its rounds that weren't played to an end, or not yet"),
    (faults, "Faults", "decisions that were late, illegal, unreadable or never came"),
)


def table(shown: Overview, first: int) -> Table:
    """Give a page of the standings from that line on, counted from 1."""
    rows, is_share = shown.standings, shown.view["ruleset"] == "seven_up"
    scale = SHARES if is_share else _scale(rows)
    before = [*([_REACHED] if shown.view["format"] == "knockout" else []), *([_POINTS] if is_share else []), _GAMES]
    after = [*map(_tiebreak, shown.method.tiebreaks), *_odd(rows)]
    cut = rows[first - 1 : first - 1 + ROWS]
    lines = [
        Line(
            row=row,
            before=[column.text(row) for column in before],
            after=[column.text(row) for column in after],
            mean=decimal(row.mean.mean, 2 if is_share else 1),
            interval=interval(row.mean, 2 if is_share else 1),
            notes=_notes(row, shown.absent),
        )
        for row in cut
    ]
    return Table(before, after, scale, lines, first, first - 1 + len(cut), len(rows))


def _scale(rows: Sequence[Standing]) -> Scale:
    """Give the scale on which all means and their intervals can be seen."""
    ends = (end for row in rows for end in (row.mean.low, row.mean.mean, row.mean.high))
    return Scale.rounded(end for end in ends if end is not None)


def interval(mean: Interval, digits: int = 2) -> str:
    """Write an interval, nothing where there is none."""
    if mean.low is None or mean.high is None:
        return ""
    return f"{decimal(mean.low, digits)} to {decimal(mean.high, digits)}"


def _tiebreak(name: str) -> Column:
    label, about, write = TIEBREAKS[name]
    return Column(label, about, lambda row: write(row.tiebreaks[name]))


def _odd(rows: Sequence[Standing]) -> list[Column]:
    """Give the columns of what shouldn't be: those in which anybody has anything."""
    return [
        Column(label, about, lambda row, number=number: f"{number(row):,}" if number(row) else "")  # type: ignore[misc]  # the loop's own, kept
        for number, label, about in _ODD
        if any(map(number, rows))
    ]


def _notes(row: Standing, absent: Mapping[str, str]) -> list[str]:
    return [*(["withdrawn"] if row.is_withdrawn else []), *([absent[row.bot_id]] if row.bot_id in absent else [])]
