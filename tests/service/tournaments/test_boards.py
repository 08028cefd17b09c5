"""Boards: who plays which, over whole tournaments of every format."""

from __future__ import annotations

from random import Random

import pytest

from bot_sdk.results.values import Result
from service.tournaments.boards import FIELD, FRESH, Place
from service.tournaments.formats import FORMATS
from tests.bot_sdk.results.made import game
from tests.simulations.tournament import hold, tournament_of

ATTEMPTS = 3
MOST_ENTRIES = 20
KINDS = [
    (name, deals, size)
    for name, chosen in FORMATS.items()
    for deals in (FIELD, FRESH)
    if deals in chosen.deals
    for size in sorted(chosen.sizes)
]
SETTINGS = {
    "round_robin": {"rounds": 2},
    "swiss": {"rounds": 6},
    "gauntlet": {"rounds": 3, "challenger": "a"},
    "ladder": {"max_games": 40},
    "match": {"rounds": 12},
    "knockout": {},
}


def meetings(name: str, deals: str, size: int, entries: int) -> list[tuple[str, str]]:
    """Hold a tournament with results by chance, all games broken off as often as can be; tell who met which board."""
    met: list[tuple[str, str]] = []
    rng = Random(f"{name}/{deals}/{size}/{entries}")

    def play(place: Place) -> Result:
        boards = [place.slot(number).board for number in range(ATTEMPTS)]
        met.extend((bot_id, board) for bot_id in place.bots for board in boards)
        totals = rng.sample(range(80), size)
        return game("".join(place.bots), totals, slot=place.slot(ATTEMPTS - 1), ended_at=len(met))

    ruleset = "seven_up" if size == 2 else "river"
    hold(*tournament_of(entries, ruleset=ruleset, format=name, deals=deals, table_size=size, **SETTINGS[name]), play)
    return met


@pytest.mark.parametrize(("name", "deals", "size"), KINDS)
def test_no_bot_meets_a_board_in_two_games_or_again_in_a_rerun(name, deals, size):
    for entries in range(size, 3 if name == "match" else MOST_ENTRIES + 1):
        met = meetings(name, deals, size, entries)
        assert met
        assert len(met) == len(set(met)), entries
