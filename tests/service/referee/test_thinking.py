"""House bots that think: asked in processes apart, and our fault when those break."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from bot_sdk.bots import THINKING, house
from bot_sdk.events import Outcome
from bot_sdk.results.values import GameState
from service.referee import players
from service.thinking.process import Process
from service.thinking.thinkers import Thinkers
from tests.service.bench import ARENA_KEY
from tests.service.fakes import FakeCalls, until

TABLE = ("house:search", "house:greedy", "house:search", "bot_a")
ROUNDS = {"start_cards": 2}


@pytest.fixture
def thinkers():
    pool = Thinkers(1)
    yield pool
    pool.close(10.0)


@pytest.fixture
def worker(make_worker, calls, thinkers):
    return make_worker(calls, thinkers=thinkers)


def test_thinking_bots_are_house_bots():
    assert sorted(THINKING) == ["house:search"]
    assert all(house(name).card() for name in THINKING)


def test_a_game_is_played_the_same_as_if_all_were_thought_here(worker, make_worker, desk, monkeypatch, thinkers):
    apart = desk.game(*TABLE, options=ROUNDS, id="gam_same")
    worker.drive(apart, seconds=60)
    played = [(event.seat, event.action, event.outcome) for event in desk.log(apart)]
    assert desk.state(apart) is GameState.FINISHED
    assert len(thinkers.pids()) == 1

    desk.store._redis.flushdb()
    monkeypatch.setattr(players, "THINKING", frozenset())
    here = desk.game(*TABLE, options=ROUNDS, id="gam_same")
    make_worker().drive(here, seconds=60)
    assert [(event.seat, event.action, event.outcome) for event in desk.log(here)] == played


def test_cheap_house_bots_need_no_process(worker, desk, thinkers):
    game = desk.game("house:counting", "house:greedy", "house:random", "bot_a", options=ROUNDS)
    worker.drive(game)
    assert desk.state(game) is GameState.FINISHED
    assert thinkers.pids() == []


def test_what_it_draws_is_the_arenas_secret(make_worker, desk, calls):
    """The key is in the call; calls to strangers are signed with theirs."""
    make_worker(calls).drive(desk.game(*TABLE, options=ROUNDS))
    asked = [call for call in calls.calls if call.endpoint.bot_id == "house:search"]
    assert asked
    for call in asked:
        (key,) = call.endpoint.secrets
        assert len(key) == 64
        assert ARENA_KEY.hex() not in key
        assert key not in repr(call.endpoint)


class Killing(Thinkers):
    """A pool whose process is stopped, and then killed, amid each of the first decisions it is given."""

    def __init__(self, times: int) -> None:
        super().__init__(1)
        self.times = times
        self.killed: list[int] = []

    def put(self, owner, job):
        if self.times and self.pids():
            self.times -= 1
            (pid,) = self.pids()
            os.kill(pid, signal.SIGSTOP)
            super().put(owner, job)
            until(lambda: not self._waiting)
            os.kill(pid, signal.SIGKILL)
            self.killed.append(pid)
        else:
            super().put(owner, job)


@pytest.fixture
def killing():
    made = []

    def make(times):
        made.append(Killing(times))
        return made[-1]

    yield make
    for pool in made:
        pool.close(10.0)


def test_a_killed_process_costs_a_game_nothing(make_worker, desk, calls, killing):
    pool = killing(2)
    game = desk.game(*TABLE, options=ROUNDS)
    make_worker(calls, thinkers=pool).drive(game, seconds=60)
    assert len(set(pool.killed)) == 2
    assert desk.state(game) is GameState.FINISHED
    assert {outcome for seat in range(4) for outcome in desk.outcomes(game, seat)} == {Outcome.OK}


DYING = """
import os
import service.thinking.__main__ as thinking

thinking.house = lambda _bot_id: os._exit(1)
thinking.main()
"""


def test_processes_that_die_over_one_decision_again_and_again_abort_its_game_alone(make_worker, desk, calls):
    pool = Thinkers(1, process=lambda: Process(("-c", DYING)))
    bad, good = desk.game(*TABLE, options=ROUNDS), desk.game("house:greedy", "bot_a")
    make_worker(calls, thinkers=pool).drive(bad, good, seconds=60)
    pool.close(10.0)
    assert (desk.state(bad), desk.state(good)) == (GameState.ABORTED, GameState.FINISHED)
    assert len(desk.decided(bad, 0)) == 0


def test_a_game_is_handed_back_though_its_bot_thinks_on(make_worker, desk, calls, thinkers):
    game = desk.game(*TABLE, options=ROUNDS)
    worker = make_worker(calls, thinkers=thinkers)
    asked = threading.Event()
    put = thinkers.put

    def put_and_stop(owner, job):
        if thinkers.pids():
            os.kill(thinkers.pids()[0], signal.SIGSTOP)
            asked.set()
        put(owner, job)

    thinkers.put = put_and_stop
    driving = worker.driving(game, seconds=60)
    assert asked.wait(30)
    worker.stopping.set()
    assert driving.result(timeout_s=30) == [game]
    os.kill(thinkers.pids()[0], signal.SIGCONT)
    thinkers.put = put
    worker.stopping.clear()
    worker.drive(game, seconds=60)
    assert desk.state(game) is GameState.FINISHED


def test_calls_to_registered_bots_go_their_own_way(make_worker, desk, thinkers):
    calls = FakeCalls()
    make_worker(calls, thinkers=thinkers).drive(desk.game("bot_a", "bot_b"))
    assert {call.endpoint.bot_id for call in calls.calls} == {"bot_a", "bot_b"}
    assert thinkers.pids() == []
