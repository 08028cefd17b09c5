"""Games with people: who waits for whom, and when their time is up (docs/contract.md, *Time*)."""

from __future__ import annotations

import pytest

from bot_sdk.events import Outcome, Retired, RetiredBecause
from bot_sdk.results.values import GameState
from tests.service.fakes import HOLD, first_legal, until

SOON = 40
"""Milliseconds a person has in these tests."""


def wait_for_deadline(desk, game):
    """Return once the time of all who owe is up, by the store's clock."""
    table = desk.table(game)
    late_at = max(table.deadline(seat, desk.store.clock.read()) for seat in table.game.owed())
    until(lambda: desk.store.due.now() >= late_at)


def test_game_that_waits_for_a_person_is_given_back_and_due_at_the_deadline(worker, desk):
    game = desk.game("house:greedy", "human:ann", limits={"human_budget_ms": 60_000})
    assert worker.drive(game) == []
    assert desk.log(game) == []
    assert not desk.is_leased(game)
    assert (
        desk.due_at(game)
        == desk.meta(game).started_at + 60_000
        == desk.table(game).deadline(1, desk.store.clock.read())
    )


def test_deadline_counts_from_when_the_decision_became_owed(worker, desk):
    game = desk.game("house:greedy", "human:ann", limits={"human_budget_ms": 60_000})
    worker.drive(game)
    desk.commit(game, 1, "stand")
    desk.commit(game, 1, desk.table(game).game.state.legal_actions(1)[0])
    worker.drive(game)
    table = desk.table(game)
    assert table.game.owed() == [1]
    assert desk.due_at(game) == table.times[-1] + 60_000


def test_nearest_deadline_of_several_people_is_when_it_is_due(worker, desk):
    who = ("human:ann", "human:bea", "human:cid", "house:random")
    game = desk.game(*who, options={"bidding": "simultaneous"}, limits={"human_budget_ms": 60_000})
    worker.drive(game)
    assert [event.seat for event in desk.log(game)] == [3]
    assert desk.table(game).game.owed() == [0, 1, 2]
    assert desk.due_at(game) == desk.meta(game).started_at + 60_000


def test_person_who_is_late_plays_the_fallback_and_shows_the_time_she_had(worker, desk):
    game = desk.game("house:greedy", "human:ann", limits={"human_budget_ms": SOON})
    worker.drive(game)
    wait_for_deadline(desk, game)
    worker.drive(game)
    first = desk.decided(game, 1)[0]
    assert (first.action, first.outcome, first.ms) == ("stand", Outcome.LATE, float(SOON))


@pytest.mark.parametrize("others", [("house:greedy",), ("house:greedy", "house:random", "house:greedy")])
def test_person_who_is_late_too_often_retires(worker, desk, others):
    limits = {"human_budget_ms": 5, "max_faults": 2}
    game = desk.game("human:ann", *others, limits=limits, options=_longer(others))
    while desk.state(game) is GameState.RUNNING:
        assert worker.drive(game) == []
        if desk.state(game) is GameState.RUNNING:
            wait_for_deadline(desk, game)
    assert desk.retired(game) == [Retired(0, RetiredBecause.FAULTS)]
    assert desk.outcomes(game, 0)[:2] == [Outcome.LATE] * 2
    assert set(desk.outcomes(game, 0)[2:]) <= {Outcome.RETIRED}
    assert desk.table(game).game.places[0] == len(others) + 1


def _longer(others):
    return {"target": 7} if len(others) == 1 else {"start_cards": 2}


def test_people_who_all_stay_away_leave_a_void_game(worker, desk):
    game = desk.game("human:ann", "human:bea", limits={"human_budget_ms": 5, "max_faults": 1})
    for _ in range(2):
        worker.drive(game)
        if desk.state(game) is GameState.RUNNING:
            wait_for_deadline(desk, game)
    assert desk.state(game) is GameState.VOID


def test_person_late_beside_a_bot_that_thinks_is_not_waited_for(worker, desk, calls):
    """The game is in the worker's hands because of the bot; the person's time ends all the same."""
    who = ("human:ann", "bot_b", "house:random", "house:random")
    game = desk.game(*who, options={"bidding": "simultaneous"}, limits={"human_budget_ms": SOON})
    calls.bots["bot_b"] = lambda decision: HOLD if decision["last"] is None else first_legal(decision)
    run = worker.driving(game)
    calls.wait_until_held()
    until(lambda: Outcome.LATE in desk.outcomes(game, 0))
    assert desk.decided(game, 1) == []
    calls.let_go()
    worker.stopping.set()
    run.result()
    assert desk.outcomes(game, 1)[:1] == [Outcome.OK]


def test_house_bots_answer_a_person_at_once(worker, desk):
    game = desk.game("human:ann", "house:greedy", "house:random", "house:greedy", options={"start_cards": 2})
    while desk.state(game) is GameState.RUNNING:
        worker.drive(game)
        if desk.state(game) is GameState.RUNNING:
            assert desk.table(game).game.owed() == [0]
            desk.commit(game, 0, desk.table(game).game.state.legal_actions(0)[0])
            if desk.table(game).game.is_over:
                worker.drive(game)  # the end is settled by a worker, whoever made the last move
    assert {Outcome.OK} == {outcome for seat in range(4) for outcome in desk.outcomes(game, seat)}
    assert desk.due_at(game) is None
