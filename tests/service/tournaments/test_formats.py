"""What the formats draw at the start, and what they say of it before."""

from __future__ import annotations

import pytest

from bot_sdk.results.values import Entry
from service.store.entities import Tournament
from service.tournaments.boards import places
from service.tournaments.formats import count_games, count_tables, draw
from service.tournaments.situation import Situation


def tournament(**changes):
    ruleset = "seven_up" if changes["table_size"] == 2 else "river"
    return Tournament(
        id="trn_1", name="cup", owner=None, ruleset=ruleset, options={}, seed=3, root="", created_at=0, **changes
    )


def situation(each, entries):
    entered = [Entry(bot_id=f"bot_{n}", name="", account_id=None, entered_at=n) for n in range(entries)]
    return Situation(each, entered, rounds={}, done=frozenset(), read_results=list)


@pytest.mark.parametrize("rounds", [None, 1, 7])
@pytest.mark.parametrize("deals", ["field", "fresh", "rotate"])
@pytest.mark.parametrize(("size", "entries"), [(2, 2), (2, 9), (2, 10), (4, 4), (4, 11), (6, 13), (8, 17)])
def test_count_foretells_what_a_round_robin_draws(size, entries, deals, rounds):
    foretells(tournament(format="round_robin", deals=deals, table_size=size, rounds=rounds), entries)


@pytest.mark.parametrize("rounds", [None, 3])
def test_count_foretells_what_a_gauntlet_and_a_match_draw(rounds):
    gauntlet = {"format": "gauntlet", "deals": "fresh", "challenger": "bot_1"}
    foretells(tournament(**gauntlet, table_size=2, rounds=rounds), 6)
    foretells(tournament(format="match", deals="rotate", table_size=2, rounds=rounds), 2)


def foretells(each, entries):
    drawn = dict(enumerate(draw(situation(each, entries)).rounds, 1))
    assert list(count_tables(each, entries)) == [len(round_.tables) for round_ in drawn.values()]
    assert count_games(each, entries) == len(list(places(each.id, each.deals, drawn)))
