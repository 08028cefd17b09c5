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
    """How many games tell two neighbours apart, in the short form and in the long one."""

    ruleset: str
    lower: str
    upper: str
    short: int
    long: int

    def __str__(self):
        return f"{self.ruleset}: {self.lower} < {self.upper}".replace("house:", "")


GAMES = {
    "river": ((40, 400), (80, 800), (24, 240)),
    "seven_up": ((40, 400), (400, 4_000), (160, 1_600)),
}
PAIRS = [
    Pair(ruleset, lower, upper, *games)
    for ruleset, of_pairs in GAMES.items()
    for (lower, upper), games in zip(pairwise(LADDER), of_pairs, strict=True)
]
PATIENT_MS = 60_000
"""No decision is late, however busy the machine."""


def lead(pair, games):
    """Give the interval of what the upper one scores more in a deal than the lower one, who has the other seats."""
    rules = RULESETS[pair.ruleset]
    match = Match(rules, budget_ms=PATIENT_MS, first_budget_ms=PATIENT_MS)
    upper, lower = (in_process(house(name), bot_id=name) for name in (pair.upper, pair.lower))
    table = [upper, *[lower] * (rules.min_seats - 1)]
    boards: dict[int, list[float]] = {}
    for played in play(match, table, games=games, seed=f"ladder {pair}"):
        state = played.game.state
        own = state.totals[played.players.index(0)]
        others = (sum(state.totals) - own) / (len(table) - 1)
        boards.setdefault(played.board, []).append((own - others) / len(state.deals))
    return t_interval([sum(leads) / len(leads) for leads in boards.values()])


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_each_beats_the_one_below(pair):
    assert lead(pair, pair.short).low > 0


@pytest.mark.soak
@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_each_beats_the_one_below_by_many_games(pair):
    assert lead(pair, pair.long).low > 0
