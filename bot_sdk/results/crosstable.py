"""The crosstable: what each entry made of its games against each other one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import TypeAlias

import msgspec

from bot_sdk.results.comparison import superiority
from bot_sdk.results.encounters import counted_seats, decided
from bot_sdk.results.intervals import Interval, share_interval
from bot_sdk.results.standings import Standing, standings
from bot_sdk.results.values import Entry, GameState, Result, Round


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """What one bot made of its games against another.

    `games` were decided between the two. `points` are match points in Seven Up, those won by forfeit among
    them; in River 1 for each game with the better place and ½ for one with the same. `mean` is what a
    decided game brought, between 0 and 1, with its 95% interval over boards, `superiority` the likelihood over
    boards that the bot is the better one of the two (see `comparison.superiority`). `forfeits` are the bot's
    own, `forfeit_wins` the other's in Seven Up; void games are counted in `voids` and say nothing else.
    """

    games: int
    points: float
    mean: Interval
    superiority: float | None
    forfeits: int
    forfeit_wins: int
    voids: int


class CrosstableRow(msgspec.Struct, frozen=True, kw_only=True):
    """One bot against all: its cells stand in the order of the rows, None for itself and whom it never met."""

    place: int
    bot_id: str
    name: str
    cells: list[Cell | None]


@dataclass(slots=True)
class _Side:
    """One bot's part in a pair."""

    forfeits: int = 0
    forfeit_wins: int = 0


@dataclass(slots=True)
class _Pair:
    """All that two bots had with each other, with the scores of the first of them in the order of their ids."""

    sides: tuple[_Side, _Side] = field(default_factory=lambda: (_Side(), _Side()))
    voids: int = 0
    boards: list[str] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)

    def board_means(self) -> list[float]:
        """Return the first one's mean on each board, in the order the boards came."""
        if len(set(self.boards)) == len(self.boards):
            return self.scores
        by_board: dict[str, list[float]] = defaultdict(list)
        for board, score in zip(self.boards, self.scores, strict=True):
            by_board[board].append(score)
        return [sum(scores) / len(scores) for scores in by_board.values()]


_Pairs: TypeAlias = dict[tuple[str, str], _Pair]


def crosstable(
    entries: Iterable[Entry],
    results: Iterable[Result],
    ruleset: str,
    *,
    seed: int,
    format: str = "round_robin",  # noqa: A002 - the word for it
    deals: str = "field",
    rounds: Mapping[int, Round] | None = None,
) -> list[CrosstableRow]:
    """Return a row for each entry, in the order of the standings, which take the same arguments.

    Two bots that sat at one table of River met there, unless one of them forfeited. Raises KeyError for an
    unknown ruleset.
    """
    results = list(results)
    rows = standings(entries, results, ruleset, seed=seed, format=format, deals=deals, rounds=rounds)
    return in_order_of(rows, cells(results, ruleset))


def in_order_of(rows: Iterable[Standing], met: Mapping[tuple[str, str], Cell]) -> list[CrosstableRow]:
    """Return the crosstable that these cells make, its rows and columns in the order of the standings."""
    rows = list(rows)
    return [
        CrosstableRow(
            place=row.place,
            bot_id=row.bot_id,
            name=row.name,
            cells=[met.get((row.bot_id, other.bot_id)) for other in rows],
        )
        for row in rows
    ]


def cells(results: Iterable[Result], ruleset: str) -> dict[tuple[str, str], Cell]:
    """Return what each bot made of its games against each other one it met, by the ids of the two."""
    found: dict[tuple[str, str], Cell] = {}
    for (one, other), pair in _paired(results, ruleset).items():
        points, means = sum(pair.scores), pair.board_means()
        better = superiority(means)
        worse = None if better is None else 1 - better
        found[one, other] = _cell(pair, 0, points, share_interval(means), better)
        found[other, one] = _cell(
            pair, 1, len(pair.scores) - points, share_interval([1 - mean for mean in means]), worse
        )
    return found


def _cell(pair: _Pair, at: int, points: float, mean: Interval, likelihood: float | None) -> Cell:
    side = pair.sides[at]
    return Cell(
        games=len(pair.scores),
        points=points + side.forfeit_wins,
        mean=mean,
        superiority=likelihood,
        forfeits=side.forfeits,
        forfeit_wins=side.forfeit_wins,
        voids=pair.voids,
    )


def _paired(results: Iterable[Result], ruleset: str) -> _Pairs:
    pairs: _Pairs = defaultdict(_Pair)
    for result in results:
        for one, other, points in decided(result):
            pair = pairs[min(one, other), max(one, other)]
            pair.boards.append(result.slot.board)
            pair.scores.append(points if one < other else 1 - points)
        if result.state is GameState.VOID:
            for one, other in combinations(sorted(result.bots[seat] for seat in counted_seats(result)), 2):
                pairs[one, other].voids += 1
        if result.state in {GameState.FINISHED, GameState.VOID}:
            _count_forfeits(result, ruleset, pairs)
    return pairs


def _count_forfeits(result: Result, ruleset: str, pairs: _Pairs) -> None:
    """Count each forfeit against everyone else at the table; in Seven Up the opponent may have won by it."""
    is_worth_a_point = ruleset == "seven_up" and result.state is GameState.FINISHED
    for seat in result.forfeited:
        for other in range(len(result.bots)):
            if other != seat:
                mine, theirs = result.bots[seat], result.bots[other]
                at = int(mine > theirs)
                pair = pairs[min(mine, theirs), max(mine, theirs)]
                pair.sides[at].forfeits += 1
                pair.sides[1 - at].forfeit_wins += is_worth_a_point and other not in result.forfeited
