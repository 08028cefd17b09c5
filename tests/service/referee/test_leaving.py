"""Handing games back in order, games that break, and a store that is away for a while."""

from __future__ import annotations

import itertools
import logging
import os
import signal
from time import monotonic

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from bot_sdk.events import Outcome
from bot_sdk.results.values import GameState
from service.launch.valkey import EmbeddedValkey
from service.referee import referee
from service.referee import run as runs
from service.store import keys
from service.store.connection import connect
from service.store.store import Store
from tests.service.bench import Background, Desk, Worker
from tests.service.fakes import HOLD, FakeCalls, first_legal, until


def holds_first(decision):
    return HOLD if decision["last"] is None else first_legal(decision)


# --- handing back -----------------------------------------------------------------------------------------------------


def test_games_are_handed_back_when_their_time_is_up(worker, desk, calls):
    calls.bots["bot_a"] = lambda decision: HOLD if len(calls.decisions_of("bot_a")) == 3 else first_legal(decision)
    game, done = desk.game("bot_b", "bot_a", options={"target": 7}), desk.game("bot_b", "bot_c")
    before = monotonic()
    run = worker.driving(game, done, seconds=0.3)
    calls.wait_until_held()
    until(lambda: desk.state(done) is GameState.FINISHED and monotonic() > before + 0.5)
    calls.let_go()
    assert run.result() == [game]
    assert not desk.is_leased(game)
    assert desk.due_at(game) <= desk.store.due.now()
    assert worker.leases._held == {}


def test_answers_under_way_are_taken_before_the_games_are_handed_back(worker, desk, calls):
    calls.bots |= {"bot_a": holds_first, "bot_c": holds_first}
    games = [desk.game("bot_b", "bot_a"), desk.game("bot_b", "bot_c")]
    run = worker.driving(*games)
    calls.wait_until_held()
    worker.stopping.set()
    calls.let_go()
    assert run.result() == games
    for game in games:
        assert desk.outcomes(game, 1) == [Outcome.OK]
        assert not desk.is_leased(game)
        assert desk.due_at(game) <= desk.store.due.now()
    assert len(calls.asked) == 2  # nobody has been asked anything since


def test_bot_that_answers_too_late_for_the_stop_is_asked_again_by_the_next(worker, desk, calls, monkeypatch):
    monkeypatch.setattr(runs, "HAND_BACK_S", 0.05)
    calls.bots["bot_a"] = holds_first
    game = desk.game("bot_b", "bot_a")
    run = worker.driving(game)
    calls.wait_until_held()
    worker.stopping.set()
    assert run.result() == [game]
    assert (desk.log(game), desk.is_leased(game)) == ([], False)
    worker.stopping.clear()
    calls.bots.clear()
    worker.drive(game)
    assert desk.state(game) is GameState.FINISHED


def test_worker_that_is_stopping_takes_games_up_only_to_hand_them_back(worker, desk, calls):
    games = [desk.game("bot_b", "bot_a") for _ in range(3)]
    worker.stopping.set()
    assert worker.drive(*games) == games
    assert calls.asked == []
    assert not any(desk.is_leased(game) for game in games)


# --- games that break -------------------------------------------------------------------------------------------------

UNREADABLE = [b"nonsense", b'12 ["d", 1', b'12 ["x", 1, "stand"]', b'noon ["d", 1, "stand"]', b"\xff\xfe"]
IMPOSSIBLE = [b'12 ["d", 0, "stand", "ok", 1.0]', b'12 ["d", 1, "bid:1", "ok", 1.0]', b'12 ["r", 7, "faults"]']


@pytest.mark.parametrize("line", UNREADABLE + IMPOSSIBLE)
def test_log_that_cannot_be_replayed_aborts_its_game_and_no_other(worker, desk, redis, caplog, line):
    bad, good = desk.game("bot_b", "bot_a", slot=desk.slot()), desk.game("bot_b", "bot_c")
    redis.rpush(keys.game_log(bad), line)
    with caplog.at_level(logging.ERROR):
        assert worker.drive(bad, good) == []
    assert "can't be replayed" in caplog.text
    assert (desk.state(bad), desk.state(good)) == (GameState.ABORTED, GameState.FINISHED)
    assert (desk.due_at(bad), desk.is_leased(bad)) == (None, False)
    assert desk.store.due.at("tournament:trn_1") is not None  # which plays it again


def test_game_whose_meta_cannot_be_read_is_left_and_not_held_for_ever(worker, desk, redis):
    bad, good = desk.game("bot_b", "bot_a"), desk.game("bot_b", "bot_c")
    redis.hset(keys.game_meta(bad), "body", b"nonsense")
    assert worker.drive(bad, good) == []
    worker.leases.renew_all()
    assert not redis.exists(keys.game_lease(bad))
    assert desk.state(good) is GameState.FINISHED


def test_game_that_breaks_in_mid_play_keeps_the_others_going(worker, desk, calls, caplog):
    """What breaks is ours and unforeseen: the game is left for another worker, which counts the tries."""
    bad, good = desk.game("bot_b", "bot_a"), desk.game("bot_b", "bot_c")
    real = worker.referee.players.asking

    def asking(table, seat):
        if table.id == bad and table.length == 2:
            raise RuntimeError("a mistake of ours")
        return real(table, seat)

    worker.referee.players.asking = asking
    with caplog.at_level(logging.ERROR):
        assert worker.drive(bad, good) == []
    assert (desk.state(bad), desk.state(good)) == (GameState.RUNNING, GameState.FINISHED)
    assert desk.is_leased(bad)
    assert worker.leases._held == {}  # so that it runs out


def test_run_that_breaks_as_a_whole_renews_no_lease(worker, desk, calls):
    """A broken run's games must become free: a process that renewed their leases would keep them from everybody."""
    game = desk.game("bot_b", "bot_a")

    def submit(call, done):
        raise RuntimeError("a mistake of ours")

    calls.submit = submit
    with pytest.raises(RuntimeError):
        worker.drive(game)
    assert worker.leases._held == {}


def test_ledger_that_cannot_be_written_now_is_written_later(worker, desk, calls, store, monkeypatch):
    add, failed = store.ledger.add, []

    def away_once(lines):
        if not failed:
            failed.append(True)
            raise RedisConnectionError("away")
        add(lines)

    monkeypatch.setattr(store.ledger, "add", away_once)
    game = desk.game("bot_b", "bot_a")
    assert worker.drive(game) == []
    lines, _ = store.ledger.lines("bot_a", limit=100)
    assert failed
    assert len(lines) == len(desk.decided(game, 1))


# --- a store that is away ---------------------------------------------------------------------------------------------


@pytest.fixture
def own(tmp_path):
    """A server of the test's own, and a referee on it whose client tries nothing twice: every failure shows."""
    with EmbeddedValkey(tmp_path) as server:
        store = Store(connect(server.url, socket_timeout_s=0.5, retries=0))
        calls = FakeCalls()
        yield server, Desk(store), calls, Worker(store, calls)
        store.close()


def test_store_killed_in_mid_game_costs_nothing_once_it_is_back(own):
    server, desk, calls, worker = own
    games = [desk.game("bot_b", "bot_a", options={"target": 3}) for _ in range(4)]
    killed = []

    def behave(decision):
        if len(calls.asked) > 20 and not killed:
            killed.append(True)
            server.kill()
            return HOLD
        return first_legal(decision)

    calls.bots["bot_a"] = behave
    run = worker.driving(*games, seconds=20)
    calls.wait_until_held()
    calls.let_go()  # answers that can't be committed for now
    server.start()
    assert run.result(20) == []
    assert killed
    for game in games:
        assert desk.state(game) is GameState.FINISHED
        assert {*desk.outcomes(game, 0), *desk.outcomes(game, 1)} == {Outcome.OK}
    asked = [decision["decision_id"] for decision in calls.asked]
    assert len(set(asked)) == len(asked)


def test_store_killed_while_bots_are_looked_up_makes_no_game_break(own):
    """A bot's state and secrets are read now and then during play: that read waits for the store, too."""
    server, desk, calls, worker = own
    game = desk.game("bot_b", "bot_a")
    worker.roster._monotonic = itertools.count(0, 2).__next__  # what was read is always too old

    def behave(decision):
        if len(calls.asked) > 3 and not starting:
            server.kill()
            starting.append(Background(server.start))
        return first_legal(decision)

    starting = []
    calls.bots["bot_a"] = behave
    assert worker.drive(game, seconds=20) == []
    starting[0].result()
    assert desk.state(game) is GameState.FINISHED
    assert len(starting) == 1


def test_store_that_hangs_for_a_second_holds_the_game_up_no_longer(own):
    server, desk, calls, worker = own
    game = desk.game("bot_b", "bot_a", options={"target": 3})
    calls.bots["bot_a"] = lambda decision: HOLD if len(calls.decisions_of("bot_a")) == 4 else first_legal(decision)
    run = worker.driving(game, seconds=20)
    calls.wait_until_held()
    os.kill(server.pid, signal.SIGSTOP)
    before = monotonic()
    calls.let_go()
    until(lambda: monotonic() - before > 1.0)
    os.kill(server.pid, signal.SIGCONT)
    assert run.result(20) == []
    assert desk.state(game) is GameState.FINISHED
    asked = [decision["decision_id"] for decision in calls.asked]
    assert len(set(asked)) == len(asked)


def test_worker_told_to_stop_while_the_store_is_away_gives_up(own, monkeypatch):
    server, desk, calls, worker = own
    games = [desk.game("bot_b", "bot_a") for _ in range(8)]
    calls.bots["bot_a"] = holds_first
    monkeypatch.setattr(referee, "TRIES_WHEN_STOPPING", 0)
    run = worker.driving(*games)
    calls.wait_until_held()
    server.kill()
    worker.stopping.set()
    calls.let_go()
    before = monotonic()
    with pytest.raises(RedisConnectionError):
        run.result(30)
    assert monotonic() - before < 4  # not once a game
    assert worker.leases._held == {}
    server.start()
    assert all(desk.state(game) is GameState.RUNNING for game in games)
