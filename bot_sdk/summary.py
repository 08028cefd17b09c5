"""What a match of offline games comes to, player by player and pair by pair, with intervals over boards."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from statistics import fmean

import msgspec

from bot_sdk.events import Outcome
from bot_sdk.games.record import Record
from bot_sdk.local import Played
from bot_sdk.results.comparison import superiority
from bot_sdk.results.intervals import Interval, share_interval, t_interval


@dataclass(slots=True)
class Line:
    """One player's games: `wins` shares a first place among those who hold it, `points` are a game's totals.

    Both are means for one seat, so that bots with more and with fewer of the `seats` at the table compare: a bot that
    holds two of four and wins every game has 0.5 wins a seat. Means are taken over a board's games and seats first:
    what happens on one board isn't independent.
    """

    name: str
    games: int
    seats: int
    wins: Interval
    points: Interval
    outcomes: dict[Outcome, int] = field(default_factory=dict)
    mean_ms: float = 0.0


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """How much better `first` did than `second`, with 95% intervals over boards that all rotations were played of.

    `mean`, `low` and `high` tell of their meetings, a seat of one with a seat of the other in one game: those won less
    those lost, from -1 to 1 of all; 0 where they are equal. `los` is the likelihood of superiority, 0 to 1, as in
    `bot_sdk.results.comparison`. `points` is by how many points a seat and game `first` was ahead. Void games count in
    `points` alone. What needs more boards than there are is None.
    """

    first: str
    second: str
    boards: int
    games: int
    mean: float | None
    low: float | None
    high: float | None
    los: float | None
    points: Interval


class Summing:
    """Sums up a match, game by game: `who[p]` says which of `names` player p of the table is.

    The same bot may sit twice.
    """

    def __init__(self, names: Sequence[str], who: Sequence[int]) -> None:
        self._names = names
        self._who = who
        self._tallies = [_Tally() for _ in names]
        self._pairs = {pair: _Pair() for pair in combinations(range(len(names)), 2)}

    def add(self, one: Played) -> None:
        """Count a game."""
        decided = list(_decided(one.record))
        sitting = [self._who[player] for player in one.players]
        for seat, name in enumerate(sitting):
            self._tallies[name].add(one, seat, [event for event in decided if event.seat == seat])
        for (first, second), pair in self._pairs.items():
            pair.add(one, _seats(sitting, first), _seats(sitting, second))

    def lines(self) -> list[Line]:
        """Give what each made of its games."""
        sums = enumerate(zip(self._tallies, self._names, strict=True))
        return [tally.line(name, self._who.count(at)) for at, (tally, name) in sums]

    def comparisons(self) -> list[Comparison]:
        """Compare each of the names with each that follows it."""
        names = self._names
        return [pair.comparison(names[first], names[second]) for (first, second), pair in self._pairs.items()]


class _Tally:
    def __init__(self) -> None:
        self._wins: dict[int, list[float]] = defaultdict(list)
        self._points: dict[int, list[float]] = defaultdict(list)
        self._outcomes: Counter[Outcome] = Counter()
        self._ms = 0.0
        self._games: set[tuple[int, int]] = set()

    def add(self, one: Played, seat: int, decided: Sequence[_Decided]) -> None:
        places = one.record.places
        self._wins[one.board].append(1 / places.count(1) if places and places[seat] == 1 else 0.0)
        self._points[one.board].append(_points(one.record, seat))
        self._outcomes.update(event.outcome for event in decided)
        self._ms += sum(event.ms for event in decided)
        self._games.add((one.board, one.leg))

    def line(self, name: str, seats: int) -> Line:
        return Line(
            name,
            len(self._games),
            seats,
            share_interval([fmean(values) for values in self._wins.values()]),
            t_interval([fmean(values) for values in self._points.values()]),
            dict(self._outcomes),
            self._ms / max(1, self._outcomes.total()),
        )


class _Pair:
    """The games of two bots: by board, what came of each meeting, and by how many points the first was ahead."""

    def __init__(self) -> None:
        self._meetings: dict[int, list[float]] = defaultdict(list)
        self._ahead: dict[int, list[float]] = defaultdict(list)
        self._seats = 0

    def add(self, one: Played, first: Sequence[int], second: Sequence[int]) -> None:
        self._seats = len(one.players)
        ahead = fmean(_points(one.record, seat) for seat in first) - fmean(_points(one.record, seat) for seat in second)
        self._ahead[one.board].append(ahead)
        if places := one.record.places:
            self._meetings[one.board] += [
                (1 + (places[mine] < places[other]) - (places[mine] > places[other])) / 2
                for mine in first
                for other in second
            ]

    def comparison(self, first: str, second: str) -> Comparison:
        # a board that some rotations are missing of compares seats, not bots
        whole = [board for board, ahead in self._ahead.items() if len(ahead) == self._seats]
        results = [fmean(self._meetings[board]) for board in whole if board in self._meetings]
        share = share_interval(results)
        return Comparison(
            first=first,
            second=second,
            boards=len(whole),
            games=len(whole) * self._seats,
            mean=_balance(share.mean),
            low=_balance(share.low),
            high=_balance(share.high),
            los=superiority(results),
            points=t_interval([fmean(self._ahead[board]) for board in whole]),
        )


class _Decided(msgspec.Struct):
    """What counts of a decision in a record."""

    seat: int
    outcome: Outcome
    ms: float


def _decided(record: Record) -> Iterator[_Decided]:
    for deal in record.deals:
        for event in deal.events:
            if "outcome" in event:
                yield msgspec.convert(event, _Decided)


def _points(record: Record, seat: int) -> float:
    """Give what a game is worth to a seat: nothing if it retired from a game of River, as in docs/tournaments.md."""
    return 0.0 if record.seats[seat].retired and len(record.seats) > 2 else float(record.totals[seat])


def _seats(sitting: Sequence[int], bot: int) -> list[int]:
    return [seat for seat, sits in enumerate(sitting) if sits == bot]


def _balance(share: float | None) -> float | None:
    """Turn a share of meetings into those won less those lost."""
    return None if share is None else 2 * share - 1
