"""What a seat's bad answers come to: fallbacks, retirement, void games, forfeits (docs/contract.md)."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bot_sdk.cards import JACK, rank_of
from bot_sdk.events import Outcome, Retired, RetiredBecause
from bot_sdk.games.game import Ending
from bot_sdk.games.packs import committed
from bot_sdk.results.values import GameState
from service.store.entities import BotState
from tests.service.fakes import fails, first_legal, standing

FAULTS = [
    Outcome.LATE,
    Outcome.UNREACHABLE,
    Outcome.BAD_STATUS,
    Outcome.BAD_REPLY,
]
BY_FAULTS = RetiredBecause.FAULTS


def once(said):
    """Make a bot that answers its first decision so, and well from then on."""
    waiting = [said]
    return lambda decision: waiting.pop() if waiting else first_legal(decision)


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_plays_the_fallback_under_its_name_and_the_game_goes_on(worker, desk, calls, fault):
    calls.bots["bot_a"] = once(fault)
    game = desk.game("bot_b", "bot_a")  # seat 1 is eldest and begins
    assert worker.drive(game) == []
    first = desk.decided(game, 1)[0]
    assert (first.action, first.outcome) == ("stand", fault)
    assert set(desk.outcomes(game, 1)[1:]) == {Outcome.OK} == set(desk.outcomes(game, 0))
    assert (desk.state(game), desk.table(game).game.ending) == (GameState.FINISHED, Ending.PLAY)


@pytest.mark.parametrize(
    "body",
    [
        b"[]",
        b"nonsense",
        b'{"decision_id": "gam_1.1.7", "action": "stand"}',
        b'{"decision_id": "gam_1.1.0", "action": NaN}',
        b'{"decision_id": "gam_1.1.0", "action": ["stand"]}',
        b'{"decision_id": "gam_1.1.0"}',
        b'{"decision_id": "gam_1.1.0", "action": "stand", "note": 7}',
    ],
)
def test_body_that_says_no_action_is_a_bad_reply(worker, desk, calls, body):
    calls.bots["bot_a"] = once(body)
    game = desk.game("bot_b", "bot_a")
    worker.drive(game)
    assert desk.decided(game, 1)[0].outcome is Outcome.BAD_REPLY


@pytest.mark.parametrize("action", ["play:QH", "beg ", "", "bid:1"])
def test_action_that_is_not_legal_is_illegal_and_the_fallback_stands_in(worker, desk, calls, action):
    calls.bots["bot_a"] = once(action)
    game = desk.game("bot_b", "bot_a")
    worker.drive(game)
    assert (desk.decided(game, 1)[0].action, desk.decided(game, 1)[0].outcome) == ("stand", Outcome.ILLEGAL)


def test_late_bot_is_shown_the_time_waited_and_others_their_own(worker, desk, calls):
    calls.bots["bot_a"] = fails(Outcome.LATE)
    game = desk.game("bot_b", "bot_a", limits={"first_budget_ms": 4_000, "budget_ms": 700, "max_faults": 3})
    worker.drive(game)
    assert [event.ms for event in desk.decided(game, 1)] == [4_000, 700, 700]
    assert {event.ms for event in desk.decided(game, 0)} == {1.0}


def test_note_stands_in_the_log(worker, desk, calls):
    calls.bots["bot_a"] = once(b'{"decision_id": "gam_1.1.0", "action": "beg", "note": "h\xc3\xa4h"}')
    game = desk.game("bot_b", "bot_a")
    worker.drive(game)
    assert (desk.decided(game, 1)[0].action, desk.decided(game, 1)[0].note) == ("beg", "häh")


# --- retirement -------------------------------------------------------------------------------------------------------


def test_seven_up_ends_when_a_seat_retires_and_the_other_wins(worker, desk, calls):
    calls.bots["bot_a"] = fails(Outcome.UNREACHABLE)
    game = desk.game("bot_b", "bot_a", options={"target": 7}, limits={"max_faults": 3})
    worker.drive(game)
    table = desk.table(game)
    assert desk.outcomes(game, 1) == [Outcome.UNREACHABLE] * 3
    assert desk.log(game)[-1] == Retired(1, BY_FAULTS)
    assert (desk.state(game), table.game.ending, table.game.places) == (GameState.FINISHED, Ending.RETIREMENT, [1, 2])


def test_river_goes_on_without_the_retired_seat_which_is_placed_last(worker, desk, calls):
    calls.bots["bot_a"] = fails(Outcome.BAD_STATUS)
    game = desk.game("bot_a", "bot_b", "bot_c", "bot_d", options={"start_cards": 3}, limits={"max_faults": 2})
    worker.drive(game)
    assert desk.outcomes(game, 0)[:3] == [Outcome.BAD_STATUS, Outcome.BAD_STATUS, Outcome.RETIRED]
    assert set(desk.outcomes(game, 0)[2:]) == {Outcome.RETIRED}
    assert len(calls.decisions_of("bot_a")) == 2
    at = desk.log(game).index(Retired(0, BY_FAULTS))
    assert desk.log(game)[at - 1].seat == 0
    assert desk.table(game).game.places[0] == 4
    assert (desk.state(game), desk.table(game).game.ending) == (GameState.FINISHED, Ending.PLAY)


def test_fallback_that_ends_the_game_retires_nobody(worker, desk, calls):
    played = len(_decisions_of_a_plain_game(worker, desk, calls))
    left = [played]

    def fails_at_last(decision):
        left[0] -= 1
        return first_legal(decision) if left[0] else Outcome.LATE

    calls.bots["bot_a"] = fails_at_last
    game = desk.game("bot_a", "bot_b", "bot_c", "bot_d", limits={"max_faults": 1}, id="gam_same", label="same")
    worker.drive(game)
    assert desk.log(game)[-1].outcome is Outcome.LATE
    assert desk.retired(game) == []
    assert desk.table(game).game.ending is Ending.PLAY


def _decisions_of_a_plain_game(worker, desk, calls):
    """Play the same deal with good answers; seat 0 plays its last card last, since it deals the only round."""
    game = desk.game("bot_a", "bot_b", "bot_c", "bot_d", id="gam_plain", label="same")
    worker.drive(game)
    assert desk.log(game)[-1].seat == 0
    return desk.decided(game, 0)


def test_seven_up_is_void_if_the_other_seat_never_answered_well(worker, desk, calls):
    calls.bots |= {"bot_a": fails(Outcome.LATE), "bot_b": fails(Outcome.LATE)}
    game = desk.game("bot_b", "bot_a", options={"target": 7}, limits={"max_faults": 2})
    worker.drive(game)
    assert desk.state(game) is GameState.VOID
    assert (desk.table(game).game.places, desk.table(game).game.ending) == (None, None)


def test_river_is_void_when_all_have_retired(worker, desk, calls):
    for bot in ("bot_a", "bot_b", "bot_c", "bot_d"):
        calls.bots[bot] = fails(Outcome.UNREACHABLE)
    game = desk.game("bot_a", "bot_b", "bot_c", "bot_d", options={"start_cards": 3}, limits={"max_faults": 1})
    worker.drive(game)
    assert desk.state(game) is GameState.VOID
    assert desk.retired(game) == [Retired(seat, BY_FAULTS) for seat in (1, 2, 3, 0)]
    assert desk.table(game).game.places is None


def test_healthy_opponent_is_never_charged(worker, desk, calls):
    calls.bots |= {"bot_a": fails(Outcome.LATE), "bot_b": standing}
    game = desk.game("bot_a", "bot_b", "bot_a", "bot_b", options={"start_cards": 2})
    worker.drive(game)
    assert {Outcome.OK} == {*desk.outcomes(game, 1), *desk.outcomes(game, 3)}


@pytest.mark.parametrize("number", [2, 4])
def test_disabled_bot_retires_at_once_and_is_not_asked(worker, desk, calls, number):
    game = desk.game("bot_a", "bot_b", *(["bot_c", "bot_d"] if number == 4 else []), options=_long(number))

    def disables(decision):
        if len(calls.decisions_of("bot_b")) == 2:
            desk.store.bots.change("bot_a", _disabled)
            worker.roster._known.clear()  # a second has passed
        return standing(decision)

    calls.bots["bot_b"] = disables
    worker.drive(game)
    asked = len(calls.decisions_of("bot_a"))
    assert desk.retired(game) == [Retired(0, RetiredBecause.DISABLED)]
    assert desk.outcomes(game, 0).count(Outcome.OK) == asked
    assert (desk.state(game), desk.table(game).game.places[0]) == (GameState.FINISHED, number)


def _long(number):
    return {"target": 7} if number == 2 else {"start_cards": 3}


def _disabled(bot):
    return replace(bot, state=BotState.DISABLED)


def test_deleted_bot_retires_as_a_disabled_one(worker, desk, calls, store):
    game = desk.game("bot_a", "bot_b")
    store.bots.delete(store.bots.get("bot_a"))
    calls.bots["bot_b"] = standing
    worker.drive(game)
    assert desk.retired(game) == [Retired(0, RetiredBecause.DISABLED)]
    assert calls.decisions_of("bot_a") == []


# --- games decided without a decision ---------------------------------------------------------------------------------


def secret_that_turns_a_jack(label):
    for number in range(10_000):
        secret = number.to_bytes(32, "big")
        if rank_of(committed(secret, label, ["", ""])(0)[12]) == JACK:
            return secret
    raise AssertionError("one pack in thirteen turns a Jack")


def test_jack_turned_at_the_first_deal_wins_before_anybody_is_asked(worker, desk, calls):
    game = desk.game("bot_a", "bot_b", id="gam_jack", secret=secret_that_turns_a_jack("gam_jack"))
    worker.drive(game)
    assert (desk.state(game), desk.log(game), calls.asked) == (GameState.FINISHED, [], [])
    assert (desk.table(game).game.ending, desk.table(game).game.places) == (Ending.PLAY, [1, 2])
    assert (desk.due_at(game), desk.is_leased(game)) == (None, False)
    assert [(bot, message["type"]) for bot, message in calls.told] == [("bot_a", "game_ended"), ("bot_b", "game_ended")]


def test_forfeited_seven_up_is_not_played(worker, desk, calls):
    game = desk.game("bot_a", "bot_b", forfeited=[0])
    worker.drive(game)
    assert (desk.state(game), desk.log(game), calls.asked) == (GameState.FINISHED, [], [])
    assert (desk.table(game).game.ending, desk.table(game).game.places) == (Ending.FORFEIT, [2, 1])


def test_forfeiter_of_river_plays_fallbacks_from_the_first_decision(worker, desk, calls):
    game = desk.game("bot_a", "bot_b", "bot_c", "bot_d", options={"start_cards": 2}, forfeited=[2])
    worker.drive(game)
    assert set(desk.outcomes(game, 2)) == {Outcome.RETIRED}
    assert calls.decisions_of("bot_c") == []
    assert desk.retired(game) == []
    assert (desk.table(game).game.ending, desk.table(game).game.places[2]) == (Ending.FORFEIT, 4)


@pytest.mark.parametrize("number", [2, 4])
def test_game_that_all_have_forfeited_is_void(worker, desk, calls, number):
    game = desk.game(*["bot_a", "bot_b", "bot_c", "bot_d"][:number], forfeited=list(range(number)))
    worker.drive(game)
    assert (desk.state(game), desk.log(game), calls.asked) == (GameState.VOID, [], [])
