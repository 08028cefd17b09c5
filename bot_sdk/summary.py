"""What a match of offline games comes to, player by player, with intervals over boards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from bot_sdk.events import Decided, Outcome
from bot_sdk.local import Played
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


def summarise(played: Iterable[Played], names: Sequence[str], who: Sequence[int]) -> list[Line]:
    """Sum up a match: `who[p]` says which of `names` player p of the table is (the same bot may sit twice)."""
    tallies = [_Tally() for _ in names]
    for one in played:
        for seat, player in enumerate(one.players):
            tallies[who[player]].add(one, seat)
    return [tally.line(name, who.count(at)) for at, (tally, name) in enumerate(zip(tallies, names, strict=True))]


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
