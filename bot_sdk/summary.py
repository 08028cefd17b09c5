"""What a match of offline games comes to, player by player, with intervals over boards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import fsum, pi, sqrt, tan
from statistics import NormalDist, fmean, stdev
from typing import Final

from bot_sdk.events import Decided, Outcome
from bot_sdk.local import Played

LEVEL: Final = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean, and how far the 95% interval reaches on both sides; None under two boards."""

    mean: float
    half_width: float | None

    @property
    def low(self) -> float | None:
        """The lower bound."""
        return None if self.half_width is None else self.mean - self.half_width


@dataclass(slots=True)
class Line:
    """One player's games: `wins` shares a first place among those who hold it, `points` are a game's totals.

    Means are taken over a board's games and seats first: what happens on one board isn't independent.
    """

    name: str
    games: int
    wins: Interval
    points: Interval
    outcomes: dict[Outcome, int] = field(default_factory=dict)
    mean_ms: float = 0.0


def summarise(played: Iterable[Played], names: Sequence[str], who: Sequence[int]) -> list[Line]:
    """Sum up a match: `who[p]` says which of `names` player p of the table is (the same bot may sit twice)."""
    tallies = [_Tally() for _ in names]
    for one in played:
        for seat, player in enumerate(one.players):
            tallies[who[player]].add(one, seat)
    return [tally.line(name) for tally, name in zip(tallies, names, strict=True)]


def interval(values: Sequence[float]) -> Interval:
    """Give the mean of independent values and its 95% t-interval."""
    if len(values) < 2:
        return Interval(fmean(values) if values else 0.0, None)
    freedom = len(values) - 1
    return Interval(fmean(values), t_quantile((1 + LEVEL) / 2, freedom) * stdev(values) / len(values) ** 0.5)


def t_quantile(probability: float, freedom: int) -> float:
    """Give the quantile of Student's t: exact for one and two degrees of freedom, else to three digits.

    From three on by the Cornish-Fisher expansion (Abramowitz and Stegun 26.7.5).
    """
    z = NormalDist().inv_cdf(probability)
    if freedom == 1:
        return tan(pi * (probability - 0.5))
    if freedom == 2:
        a = 2 * probability - 1
        return a * sqrt(2 / (1 - a * a))
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return fsum(term / float(freedom) ** power for power, term in enumerate(terms))


class _Tally:
    def __init__(self) -> None:
        self._wins: dict[int, list[float]] = {}
        self._points: dict[int, list[float]] = {}
        self._outcomes: Counter[Outcome] = Counter()
        self._ms = 0.0
        self._games: set[tuple[int, int]] = set()

    def add(self, one: Played, seat: int) -> None:
        places = one.game.places
        won = 1 / places.count(1) if places and places[seat] == 1 else 0.0
        self._wins.setdefault(one.board, []).append(won)
        self._points.setdefault(one.board, []).append(one.game.state.totals[seat])
        self._outcomes.update(one.game.outcomes[seat])
        self._ms += sum(event.ms for event in one.game.log if isinstance(event, Decided) and event.seat == seat)
        self._games.add((one.board, one.leg))

    def line(self, name: str) -> Line:
        return Line(
            name,
            len(self._games),
            interval([fmean(values) for values in self._wins.values()]),
            interval([fmean(values) for values in self._points.values()]),
            dict(self._outcomes),
            self._ms / max(1, self._outcomes.total()),
        )
