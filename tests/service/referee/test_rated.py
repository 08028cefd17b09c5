"""Which tournament games count for ratings: those played by the default rules between strangers."""

from __future__ import annotations

import pytest

from bot_sdk.events import Outcome
from bot_sdk.games.registry import ruleset
from bot_sdk.results.values import GameState
from tests.service.bench import Worker
from tests.service.fakes import fails, standing

FOUR = ("bot_a", "bot_b", "bot_c", "bot_d")


@pytest.fixture
def strangers(desk):
    """Register bots that belong to an account each."""
    for bot in FOUR:
        desk.bot(bot, account_id=f"acc_{bot}")
    return FOUR


@pytest.fixture
def played(worker, desk, store):
    """Play a tournament game by the default rules, or with these options, and give its result."""

    def play(*who, by=worker, options=None, **changes):
        rules = ruleset("seven_up" if len(who) == 2 else "river")
        by.drive(desk.game(*who, options=rules.resolve(options or {}, len(who)), slot=desk.slot(), **changes))
        return store.tournaments.results("trn_1")[0]

    return play


def test_finished_game_of_strangers_by_the_default_rules_is_rated(strangers, played):
    assert played(*strangers).is_rated


def test_game_with_house_bots_is_rated(strangers, played):
    assert played("bot_a", "house:random").is_rated


def test_defaults_are_those_of_the_table_size(desk, played):
    """Five at a table start with fewer cards than four."""
    five = [f"bot_{number}" for number in range(5)]
    for bot in five:
        desk.bot(bot, account_id=f"acc_{bot}")
    assert played(*five).is_rated


def test_game_with_an_option_of_its_own_is_not_rated(strangers, played):
    assert not played("bot_a", "bot_b", options={"target": 1}).is_rated


def test_two_seats_of_one_account_make_the_game_unrated(strangers, desk, played):
    desk.bot("bot_twin", account_id="acc_bot_a")
    assert not played("bot_a", "bot_b", "bot_c", "bot_twin").is_rated


def test_two_seats_of_one_account_are_rated_where_the_operator_trusts_accounts(store, calls, desk, played):
    trusting = Worker(store, calls, trusts_accounts=True)
    assert played("bot_a", "bot_b", by=trusting).is_rated


def test_forfeited_game_of_seven_up_is_not_rated(strangers, played):
    result = played("bot_a", "bot_b", forfeited=[1])
    assert result.state is GameState.FINISHED
    assert not result.is_rated


def test_river_is_rated_among_those_that_did_not_forfeit(strangers, played):
    result = played(*strangers, forfeited=[1, 2])
    assert (result.is_rated, result.forfeited) == (True, [1, 2])


def test_river_with_one_seat_that_did_not_forfeit_rates_nobody(strangers, played):
    result = played(*strangers, forfeited=[0, 1, 2])
    assert result.state is GameState.FINISHED
    assert not result.is_rated


def test_retirement_is_rated(strangers, calls, played):
    calls.bots |= {"bot_a": fails(Outcome.LATE), "bot_b": standing}
    result = played("bot_a", "bot_b", limits={"max_faults": 1})
    assert (result.ended_by, result.is_rated) == ("retirement", True)


def test_void_game_is_not_rated(strangers, calls, played):
    calls.bots |= dict.fromkeys(("bot_a", "bot_b"), fails(Outcome.LATE))
    result = played("bot_a", "bot_b", limits={"max_faults": 1})
    assert (result.state, result.is_rated) == (GameState.VOID, False)
