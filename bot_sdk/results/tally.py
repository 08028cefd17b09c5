"""Counting results by bot: the one pass over a tournament's results that standings are made from.

What a game is worth:

- A void game counts as played and is worth nothing to anyone, whatever its totals say.
- An aborted game is counted as aborted and nothing else; a cancelled one isn't counted.
- A forfeited game of Seven Up wasn't played: the opponent has the point, in the forfeit columns, and
  neither board nor deals say anything. One of River was played on with fallbacks: it is worth 0 to the
  forfeiter, who meets nobody in it, and its totals to the others.
- A seat of River that was retired is played on with fallbacks too, which are bids of 0 mostly, and those are worth
  points. The game is worth 0 to it, or a dead bot would be ahead of live ones; it has met the others, and lost to
  each that wasn't retired.

Sums are of whole and half points, which floats hold exactly; so equal scores are equal in whatever order
games end.

With `rotate` the legs of a board are one value, their mean. Where a leg is lacking (it was aborted to the last
attempt, cancelled, or forfeited in Seven Up) the board counts with the mean of the legs that were played. Such a
value expects the same as a whole board's and only varies more, and what the interval needs, the variance of the
mean of all boards, stays estimated without bias when the values vary unequally. To leave the board out instead
would make a River bot's score, by which it is ranked, forget games that it played.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from bot_sdk.results.encounters import counted_seats, decided, places_of
from bot_sdk.results.values import GameState, Result


@dataclass(slots=True)
class Encounters:
    """What a bot made of its games against one other: 1 for each won, ½ for each tied."""

    points: float = 0
    games: int = 0


@dataclass(slots=True)
class Tally:
    """One bot's sums. `games` were played; `points` are match points in Seven Up, game points in River.

    `net_points` are its own points minus the opponent's (Seven Up), `exact_bids` the bids it met (River),
    both over `deals`. `boards` holds its scores by board, those that intervals are made from.
    """

    games: int = 0
    points: float = 0
    wins: int = 0
    forfeits: int = 0
    forfeit_wins: int = 0
    retirements: int = 0
    voids: int = 0
    aborted: int = 0
    deals: int = 0
    net_points: int = 0
    exact_bids: int = 0
    boards: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    outcomes: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    against: dict[str, Encounters] = field(default_factory=lambda: defaultdict(Encounters))

    def board_means(self) -> list[float]:
        """Return the mean score of each board, in the order the boards came."""
        return [sum(scores) / len(scores) for scores in self.boards.values()]

    def mean_of_boards(self) -> Fraction | None:
        """Return the mean of the boards' means exactly, None without a board."""
        by_legs: dict[int, float] = defaultdict(float)
        for scores in self.boards.values():
            by_legs[len(scores)] += sum(scores)
        total = sum((Fraction(scores) / legs for legs, scores in by_legs.items()), Fraction(0))
        return total / len(self.boards) if self.boards else None

    def play(self, result: Result, seat: int, score: float) -> None:
        """Count a game that was played, as far as both rulesets agree on it."""
        self.games += 1
        self.points += score
        self.retirements += result.retired[seat] and seat not in result.forfeited
        self.voids += result.state is GameState.VOID
        self.boards[result.slot.board].append(score)
        for outcome, times in result.outcomes[seat].items():
            self.outcomes[outcome] += times

    def meet(self, other: str, points: float) -> None:
        """Count an encounter with another bot."""
        encounters = self.against[other]
        encounters.points += points
        encounters.games += 1


Tallies: TypeAlias = dict[str, Tally]


def tally(results: Iterable[Result], ruleset: str) -> Tallies:
    """Return the sums of every bot that sits in any of the results. Raises KeyError for an unknown ruleset."""
    count = _COUNTERS[ruleset]
    tallies: Tallies = defaultdict(Tally)
    for result in results:
        if result.state in {GameState.FINISHED, GameState.VOID}:
            count(result, tallies)
        elif result.state is GameState.ABORTED:
            for bot_id in result.bots:
                tallies[bot_id].aborted += 1
    return tallies


def _count_seven_up(result: Result, tallies: Tallies) -> None:
    scores = match_points(result)
    for seat, bot_id in enumerate(result.bots):
        mine, other = tallies[bot_id], 1 - seat
        mine.meet(result.bots[other], scores[seat])
        if result.forfeited:
            mine.points += scores[seat]
            mine.forfeits += seat in result.forfeited
            mine.forfeit_wins += scores[seat] == 1
            continue
        mine.play(result, seat, scores[seat])
        mine.wins += scores[seat] == 1
        if result.state is GameState.FINISHED:
            mine.deals += result.deals
            mine.net_points += result.totals[seat] - result.totals[other]


def match_points(result: Result) -> tuple[float, float]:
    """Return what a game of Seven Up is worth to either seat: 1 to its winner, by forfeit too."""
    if result.state is GameState.FINISHED and result.forfeited:
        return float(0 not in result.forfeited), float(1 not in result.forfeited)
    for _, _, points in decided(result):
        return points, 1 - points
    return 0, 0


def _count_river(result: Result, tallies: Tallies) -> None:
    counted = counted_seats(result) if result.state is GameState.FINISHED else []
    for seat, bot_id in enumerate(result.bots):
        mine = tallies[bot_id]
        scores = seat in counted and not result.retired[seat]
        mine.play(result, seat, result.totals[seat] if scores else 0)
        mine.forfeits += seat in result.forfeited
        if scores:
            mine.wins += places_of(result)[seat] == 1
            mine.deals += result.deals
            mine.exact_bids += result.exact_bids[seat] if result.exact_bids else 0
    for one, other, points in decided(result):
        tallies[one].meet(other, points)
        tallies[other].meet(one, 1 - points)


_COUNTERS: dict[str, Callable[[Result, Tallies], None]] = {
    "seven_up": _count_seven_up,
    "river": _count_river,
}
