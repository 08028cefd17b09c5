"""The ladder of house bots: each beats the one before it by the 95% interval, over rotated boards."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import pytest

from bot_sdk.bots import house
from bot_sdk.games.registry import RULESETS
from bot_sdk.local import Match, in_process, play
from bot_sdk.results.intervals import t_interval

LADDER = ("house:random", "house:greedy", "house:counting", "house:search")


@dataclass(frozen=True)
class Pair:
    """How many games tell two neighbours apart, in the short form (0: only in the long one) and in the long one."""

    ruleset: str
    lower: str
    upper: str
    short: int
    long: int

    def __str__(self):
        return f"{self.ruleset}: {self.lower} < {self.upper}".replace("house:", "")


GAMES = {
    "river": ((12, 200), (56, 800), (16, 480)),
    "seven_up": ((40, 400), (208, 3_000), (0, 3_000)),
}
PAIRS = [
    Pair(ruleset, lower, upper, *games)
    for ruleset, of_pairs in GAMES.items()
    for (lower, upper), games in zip(pairwise(LADDER), of_pairs, strict=True)
]
PATIENT_MS = 60_000
"""No decision is late, however busy the machine."""


def lead(played):
    """Say by how much player 0 did better than the others: at River in points a deal, at Seven Up in games won."""
    state, seat = played.game.state, played.players.index(0)
    if state.seats == 2:
        return 1.0 if played.game.places[seat] == 1 else -1.0
    own = state.totals[seat]
    return (own - (sum(state.totals) - own) / (state.seats - 1)) / len(state.deals)


def interval(pair, games):
    """Give the interval of the lead of the upper one over the lower one, who has all other seats."""
    rules = RULESETS[pair.ruleset]
    match = Match(rules, budget_ms=PATIENT_MS, first_budget_ms=PATIENT_MS)
    upper, lower = (in_process(house(name), bot_id=name) for name in (pair.upper, pair.lower))
    boards: dict[int, list[float]] = {}
    for played in play(match, [upper, *[lower] * (rules.min_seats - 1)], games=games, seed=f"ladder {pair}"):
        boards.setdefault(played.board, []).append(lead(played))
    return t_interval([sum(leads) / len(leads) for leads in boards.values()])


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair.short], ids=str)
def test_each_beats_the_one_below(pair):
    assert interval(pair, pair.short).low > 0


@pytest.mark.soak
@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_each_beats_the_one_below_by_many_games(pair):
    assert interval(pair, pair.long).low > 0
