"""When the arena itself fails: asked again under the same id, and aborted after the third try that came to nothing."""

from __future__ import annotations

import logging
import time

import pytest

from bot_sdk.events import Outcome
from bot_sdk.results.values import GameState
from service.outbound.calls import Calls
from service.outbound.guard import LOOPBACK, Guard
from service.referee import players
from service.referee.drive import Drive
from service.referee.players import Players
from service.referee.roster import Roster
from service.referee.run import Run
from service.referee.verdicts import Verdict
from tests.service.bench import ARENA_KEY
from tests.service.fakes import HOLD, first_legal
from tests.service.outbound.hostile import HostileServer

NOW = 1_700_000_000_000


def failing(times, *, after=0):
    """Make a bot whose calls break on our side `times` times, once it has answered `after` decisions."""
    left, answered = [times], [0]

    def behave(decision):
        if answered[0] >= after and left[0]:
            left[0] -= 1
            return Outcome.OUR_FAULT
        answered[0] += 1
        return first_legal(decision)

    return behave


@pytest.mark.parametrize("after", [0, 2])
def test_bot_is_asked_again_with_the_same_id_and_charged_nothing(worker, desk, calls, after):
    calls.bots["bot_a"] = failing(2, after=after)
    game = desk.game("bot_b", "bot_a")
    worker.drive(game)
    asked = [decision["decision_id"] for decision in calls.decisions_of("bot_a")]
    again = f"{game}.1.{after}"
    assert asked.count(again) == 3
    assert {call.webhook_id for call in calls.calls if again in call.webhook_id} == {f"msg_{again}"}
    assert set(desk.outcomes(game, 1)) == {Outcome.OK}
    assert desk.state(game) is GameState.FINISHED


@pytest.mark.parametrize("after", [0, 2])
def test_third_try_that_fails_aborts_the_game_wherever_it_stands(worker, desk, calls, after):
    calls.bots["bot_a"] = failing(9, after=after)
    game = desk.game("bot_b", "bot_a")
    assert worker.drive(game) == []
    asked = [decision["decision_id"] for decision in calls.decisions_of("bot_a")]
    assert asked.count(f"{game}.1.{after}") == 3
    assert desk.state(game) is GameState.ABORTED
    assert Outcome.OUR_FAULT not in desk.outcomes(game, 1)
    assert (desk.due_at(game), desk.is_leased(game)) == (None, False)


def test_failures_at_different_points_do_not_add_up(worker, desk, calls):
    def behave(decision):
        tries = [each["decision_id"] for each in calls.decisions_of("bot_a")].count(decision["decision_id"])
        return Outcome.OUR_FAULT if tries < 3 else first_legal(decision)

    calls.bots["bot_a"] = behave
    game = desk.game("bot_b", "bot_a")
    worker.drive(game)
    assert desk.state(game) is GameState.FINISHED


def test_seats_that_fail_together_are_one_try_together(worker, desk, calls):
    """A stall of ours hits all four calls at once; that is one try of three, not four."""
    for bot in ("bot_a", "bot_b", "bot_c", "bot_d"):
        calls.bots[bot] = failing(2)
    game = desk.game("bot_a", "bot_b", "bot_c", "bot_d", options={"bidding": "simultaneous"})
    worker.drive(game)
    assert desk.state(game) is GameState.FINISHED


def test_abort_takes_no_other_game_with_it(worker, desk, calls):
    calls.bots["bot_bad"] = failing(99)
    bad, good = desk.game("bot_b", "bot_bad"), desk.game("bot_b", "bot_a")
    worker.drive(bad, good)
    assert (desk.state(bad), desk.state(good)) == (GameState.ABORTED, GameState.FINISHED)


def test_batch_that_fails_on_our_side_is_asked_again(worker, desk, calls):
    desk.bot("bot_many", max_batch=8)
    left = [2]

    def behave(decision):
        failed = decision["game"]["id"] == "gam_1" and left[0] > 0
        left[0] -= failed
        return Outcome.OUR_FAULT if failed else first_legal(decision)

    calls.bots["bot_many"] = behave
    games = [desk.game("bot_b", "bot_many") for _ in range(3)]
    worker.drive(*games)
    assert [desk.state(game) for game in games] == [GameState.FINISHED] * 3


# --- workers that die -------------------------------------------------------------------------------------------------


def crash(make_worker, store, game, calls=None):
    """Let a worker take a game, ask, and die: its lease runs out unreleased."""
    worker = make_worker(calls)
    drive = Drive(worker.referee, game, worker.referee.new_id())
    assert worker.leases.take(game, drive.token)
    drive.lay()
    if drive.table is not None:
        drive.step()
    store._redis.delete(f"{{g:{game}}}:lease")


def test_third_worker_that_dies_over_the_same_decision_aborts_the_game(make_worker, worker, desk, store):
    game = desk.game("bot_b", "bot_a")
    for _ in range(3):
        assert desk.state(game) is GameState.RUNNING
        crash(make_worker, store, game)
    worker.drive(game)
    assert desk.state(game) is GameState.ABORTED


def test_two_deaths_and_a_failure_of_ours_make_three(make_worker, worker, desk, store, calls):
    game = desk.game("bot_b", "bot_a")
    crash(make_worker, store, game)
    crash(make_worker, store, game)
    calls.bots["bot_a"] = failing(1)
    worker.drive(game)
    assert desk.state(game) is GameState.ABORTED
    assert len(calls.asked) == 1


def test_two_deaths_are_survived(make_worker, worker, desk, store):
    game = desk.game("bot_b", "bot_a")
    crash(make_worker, store, game)
    crash(make_worker, store, game)
    worker.drive(game)
    assert desk.state(game) is GameState.FINISHED


def test_handing_back_in_order_never_counts(worker, desk, calls):
    calls.bots["bot_a"] = lambda _decision: HOLD
    game = desk.game("bot_b", "bot_a")
    for _ in range(5):
        run = worker.driving(game)
        calls.wait_until_held()
        worker.stopping.set()
        calls.let_go(Outcome.OUR_FAULT)  # the caller closes
        assert run.result() == [game]
        worker.stopping.clear()
    calls.bots.clear()
    worker.drive(game)
    assert desk.state(game) is GameState.FINISHED


def test_waiting_for_people_never_counts(worker, desk):
    game = desk.game("bot_b", "human:ann")
    for _ in range(5):
        assert worker.drive(game) == []
    assert desk.state(game) is GameState.RUNNING


# --- house bots -------------------------------------------------------------------------------------------------------


class Breaking(Players):
    """House bots that break `times` times, from the decision numbered `number` on."""

    def __init__(self, bots, times, number):
        super().__init__(Roster(bots, lambda: NOW), lambda: ARENA_KEY)
        self.times = times
        self.number = number

    def decide(self, table, seat):
        if self.times and table.game.decisions[seat] >= self.number:
            self.times -= 1
            return Verdict(Outcome.OUR_FAULT, 0.0, error="it broke")
        return super().decide(table, seat)


@pytest.mark.parametrize("number", [0, 3])
def test_house_bot_that_breaks_is_asked_again(make_worker, desk, store, number):
    game = desk.game("house:random", "house:greedy")
    make_worker(players=Breaking(store.bots, 2, number)).drive(game)
    assert desk.state(game) is GameState.FINISHED
    assert {*desk.outcomes(game, 0), *desk.outcomes(game, 1)} == {Outcome.OK}


@pytest.mark.parametrize("number", [0, 3])
def test_house_bot_that_keeps_breaking_aborts_its_game_alone(make_worker, desk, store, calls, number):
    bad, good = desk.game("house:random", "bot_b"), desk.game("bot_a", "bot_b")
    breaking = Breaking(store.bots, 99, number)
    assert make_worker(calls, players=breaking).drive(bad, good) == []
    assert (desk.state(bad), desk.state(good)) == (GameState.ABORTED, GameState.FINISHED)
    assert breaking.times == 99 - 3
    assert (desk.due_at(bad), desk.is_leased(bad)) == (None, False)


def test_house_bot_that_raises_is_our_fault(worker, desk, monkeypatch, caplog):
    def break_down(_bot_id):
        raise RuntimeError("no such card")

    monkeypatch.setattr(players, "house", break_down)
    game = desk.game("house:random", "house:greedy")
    with caplog.at_level(logging.ERROR):
        worker.drive(game)
    assert desk.state(game) is GameState.ABORTED
    assert "broke" in caplog.text


# --- stalls of the run ------------------------------------------------------------------------------------------------


@pytest.fixture
def silent():
    """Serve a bot that never answers."""
    server = HostileServer(lambda *_: server.stopping.wait(20))
    yield server
    server.close()


@pytest.fixture
def asking(store, make_worker, desk, silent):
    """Make a worker that asks over the network, and a game of the silent bot with a budget of 100 ms."""
    desk.bot("bot_silent", url=silent.url)
    limits = {"budget_ms": 100, "first_budget_ms": 100}
    calls = Calls(Guard(LOOPBACK))
    yield make_worker(calls), desk.game("bot_silent", "house:random", limits=limits)
    calls.close()


def test_stalls_of_the_store_at_every_deadline_abort_no_game(asking, desk, silent, monkeypatch):
    worker, game = asking
    refresh, stalls = worker.referee.players.refresh, []

    def stall():
        if len(stalls) < 4 and len(silent.requests) > len(stalls):
            stalls.append(time.sleep(0.5))
        refresh()

    monkeypatch.setattr(Run, "_patience_s", lambda _run: 0.0)  # as if other games kept it busy
    monkeypatch.setattr(worker.referee.players, "refresh", stall)
    worker.drive(game, seconds=30)
    assert len(stalls) == 4
    assert Outcome.LATE in desk.outcomes(game, 0)
    assert desk.state(game).is_end
    assert desk.state(game) is not GameState.ABORTED


def test_run_that_is_always_busy_aborts_no_game_of_a_silent_bot(asking, desk, monkeypatch):
    worker, game = asking
    refresh = worker.referee.players.refresh

    def dawdle():
        time.sleep(0.04)  # more than the share of the budget that may be ours
        refresh()

    monkeypatch.setattr(Run, "_patience_s", lambda _run: 0.0)
    monkeypatch.setattr(worker.referee.players, "refresh", dawdle)
    worker.drive(game, seconds=30)
    assert desk.state(game) is not GameState.ABORTED
    assert desk.outcomes(game, 0)[0] is Outcome.LATE
