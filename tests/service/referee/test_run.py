"""One run over many games: what it does together, how many it takes, what it never lets wait."""

from __future__ import annotations

import pytest

from bot_sdk.events import Outcome
from bot_sdk.results.values import GameState
from service.referee import run as runs
from service.referee.run import Run
from service.store import keys
from tests.service.bench import Background
from tests.service.fakes import HOLD, first_legal, until


@pytest.fixture
def start(worker):
    """Start a run that serves until the test ends."""
    started = []

    def begin(**changes):
        run = Run(worker.referee, **changes)
        started.append(Background(run.serve))
        return run

    yield begin
    worker.stopping.set()
    for background in started:
        background.result()


@pytest.fixture
def round_trips(store, monkeypatch):
    """Note which games each round trip of commits was for."""
    commit_many, seen = store.games.commit_many, []

    def noting(proposals):
        seen.append([proposal.game_id for proposal in proposals])
        return commit_many(proposals)

    monkeypatch.setattr(store.games, "commit_many", noting)
    return seen


def test_what_many_games_come_to_in_a_turn_is_committed_in_one_round_trip(worker, desk, round_trips, monkeypatch):
    monkeypatch.setattr(runs, "TURN_S", 60.0)
    games = [desk.game("bot_a", "bot_b") for _ in range(6)]
    assert worker.drive(*games) == []
    assert all(desk.state(game) is GameState.FINISHED for game in games)
    assert sorted(round_trips[0]) == games
    assert len(round_trips) <= max(len(desk.log(game)) for game in games)


def test_turn_that_is_cut_short_leaves_the_rest_to_the_next(worker, desk, round_trips, monkeypatch):
    monkeypatch.setattr(runs, "TURN_S", 0.0)
    games = [desk.game("bot_a", "house:random", "bot_b", "house:greedy") for _ in range(4)]
    assert worker.drive(*games) == []
    assert all(desk.state(game) is GameState.FINISHED for game in games)
    assert max(map(len, round_trips)) == 1


def test_step_that_one_game_takes_twice_is_committed_once(worker, desk, store, monkeypatch):
    """The answer to a round trip is lost: all of it is sent again, and what stands already isn't doubled."""
    commit_many, lost = store.games.commit_many, []

    def losing(proposals):
        told = commit_many(proposals)
        if len(lost) < 3:
            lost.append(told)
            raise runs.RedisError("connection lost") from ConnectionError()
        return told

    monkeypatch.setattr(store.games, "commit_many", losing)
    monkeypatch.setattr("service.referee.referee.passes", lambda _error: True)
    games = [desk.game("bot_a", "bot_b") for _ in range(3)]
    assert worker.drive(*games) == []
    for game in games:
        assert desk.table(game).game.is_over
        assert {*desk.outcomes(game, 0), *desk.outcomes(game, 1)} == {Outcome.OK}
    assert len(lost) == 3


# --- room -------------------------------------------------------------------------------------------------------------


def test_games_wait_for_room_and_are_refused_when_there_is_none_for_too_long(start, desk, calls):
    calls.bots["bot_a"] = lambda decision: HOLD if decision["last"] is None else first_legal(decision)
    first, second = [[desk.game("bot_b", "bot_a") for _ in range(2)] for _ in range(2)]
    run = start(most=3)
    assert run.hand_in_all(first, wait_s=5)
    calls.wait_until_held()
    assert not run.hand_in_all(second, wait_s=0.05)
    assert not any(desk.is_leased(game) for game in second)
    waiting = Background(lambda: run.hand_in_all(second, wait_s=10))
    until(lambda: len(calls._held) == 2)
    calls.let_go()
    assert waiting.result()
    calls.wait_until_held()
    until(lambda: all(desk.is_leased(game) for game in second))


def test_people_find_room_always(start, desk, calls):
    calls.bots["bot_a"] = lambda _decision: HOLD
    full = start(most=1)
    assert full.hand_in_all([desk.game("bot_b", "bot_a")], wait_s=5)
    calls.wait_until_held()
    game = desk.game("human:ann", "house:greedy")
    full.hand_in(game)
    until(lambda: desk.log(game))


def test_next_games_are_not_taken_from_the_queue_before_those_handed_in_are_taken_up(worker, desk):
    """Else a worker that is busy would take them from those that aren't."""
    run = Run(worker.referee)
    assert run.hand_in_all([desk.game("bot_a", "bot_b")], wait_s=0.0)
    assert not run.hand_in_all([desk.game("bot_a", "bot_b")], wait_s=0.0)


# --- what is kept back ------------------------------------------------------------------------------------------------


def test_ledger_has_a_decision_soon_though_its_game_waits_for_a_bot(start, desk, calls, store):
    calls.bots["bot_b"] = lambda _decision: HOLD
    game = desk.game("bot_b", "bot_a", options={"first_dealer": 0})
    start().hand_in(game)
    calls.wait_until_held()
    until(lambda: len(store.ledger.lines("bot_a", limit=9)[0]) == len(desk.decided(game, 1)) > 0)


def test_lines_of_many_decisions_are_written_together(worker, desk, store, monkeypatch):
    monkeypatch.setattr(runs, "FLUSH_S", 60.0)
    add, written = store.ledger.add, []

    def noting(lines):
        written.append(len(lines))
        add(lines)

    monkeypatch.setattr(store.ledger, "add", noting)
    games = [desk.game("bot_a", "bot_b") for _ in range(3)]
    worker.drive(*games)
    assert sum(written) == sum(len(desk.decided(game, seat)) for game in games for seat in (0, 1))
    assert len(written) <= 2


# --- damage -----------------------------------------------------------------------------------------------------------


def test_game_that_the_store_refuses_for_good_takes_none_of_its_round_trip_along(
    worker, desk, redis, calls, round_trips, monkeypatch
):
    monkeypatch.setattr(runs, "TURN_S", 60.0)
    games = [desk.game("bot_a", "bot_b") for _ in range(4)]
    bad = games[1]

    def damaging(decision):
        if decision["game"]["id"] == bad:
            redis.delete(keys.game_log(bad))
            redis.set(keys.game_log(bad), "nonsense")
        return first_legal(decision)

    calls.bots["bot_b"] = damaging
    assert worker.drive(*games) == []
    assert any(bad in together and len(together) > 1 for together in round_trips)
    assert [desk.state(game) for game in games if game != bad] == [GameState.FINISHED] * 3
    assert worker.leases._held == {}
