"""The run that drives the games of people: handed in one by one, none waiting for another's bots."""

from __future__ import annotations

import pytest

from bot_sdk.events import Outcome
from bot_sdk.results.values import GameState
from service.outbound.values import Answer
from tests.service.bench import Background
from tests.service.fakes import HOLD, until


@pytest.fixture
def run(worker):
    return worker.run()


@pytest.fixture
def serving(worker, run):
    """Serve until the test ends."""
    background = Background(run.serve)
    yield background
    worker.stopping.set()
    background.result()


def owes(desk, game, seat):
    return seat in desk.table(game).game.owed()


def test_no_game_waits_for_the_bots_of_others(serving, run, desk, calls):
    calls.bots["bot_slow"] = lambda _decision: HOLD
    waiting = [desk.game("human:ann", "bot_slow") for _ in range(20)]
    for game in waiting:
        run.hand_in(game)
    calls.wait_until_held()
    quick = desk.game("human:bea", "house:greedy")
    run.hand_in(quick)
    until(lambda: desk.log(quick))
    assert not any(desk.log(game) for game in waiting)


def test_game_goes_on_as_often_as_it_is_handed_in(serving, run, desk):
    game = desk.game("house:greedy", "human:ann", options={"target": 50})
    for _ in range(6):
        until(lambda: owes(desk, game, 1))
        desk.commit(game, 1, desk.table(game).game.fallback(1))
        run.hand_in(game)
    until(lambda: owes(desk, game, 1))
    assert len(desk.decided(game, 1)) == 6
    until(lambda: not desk.is_leased(game))


def test_who_acts_while_a_bot_is_asked_is_seen_at_once(serving, run, desk, calls):
    """Both bid hidden: the person's bid is taken up before the bot's answer is there."""
    calls.bots["bot_slow"] = lambda _decision: HOLD
    game = desk.game("human:ann", "bot_slow", "human:bea", "house:greedy", options={"bidding": "simultaneous"})
    run.hand_in(game)
    calls.wait_until_held()
    desk.commit(game, 0, "bid:1")
    desk.commit(game, 2, "bid:0")
    run.hand_in(game)
    calls.let_go()
    until(lambda: desk.table(game).game.state.phase == "play")
    asked = [decision["decision_id"] for decision in calls.decisions_of("bot_slow")]
    assert asked[0] == f"{game}.1.0"
    assert len(asked) == len(set(asked))


def test_what_is_handed_in_at_the_end_is_given_back_though_no_bot_is_asked(worker, run):
    worker.stopping.set()
    for game in ("gam_1", "gam_2", "gam_1"):
        run.hand_in(game)
    assert run.serve() == ["gam_1", "gam_2"]


def test_answer_to_what_was_never_asked_stops_no_game(serving, run, desk, calls):
    calls.bots["bot_slow"] = lambda _decision: HOLD
    asked = desk.game("bot_slow", "human:ann", options={"first_dealer": 1})
    run.hand_in(asked)
    calls.wait_until_held()
    run._line.answers.put(Answer("nobody's", Outcome.OK, 1.0, body=b"{}"))
    calls.let_go()
    until(lambda: desk.decided(asked, 0))


def test_what_stands_unfinished_or_unread_at_the_end_is_given_back(worker, run, desk, calls):
    calls.bots["bot_slow"] = lambda _decision: HOLD
    asked, late = desk.game("bot_slow", "human:ann", options={"first_dealer": 1}), desk.game("bot_b", "human:ann")
    background = Background(run.serve)
    run.hand_in(asked)
    calls.wait_until_held()
    worker.stopping.set()
    run.hand_in(late)
    calls.let_go()
    assert set(background.result()) <= {asked, late}
    assert not desk.is_leased(asked)
    assert desk.state(asked) is GameState.RUNNING
    assert len(desk.decided(asked, 0)) == 1
