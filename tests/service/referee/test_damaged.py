"""A game whose keys are damaged takes no other along, and comes to an end as far as it can be ended."""

from __future__ import annotations

import logging
import threading

import pytest
from redis.exceptions import OutOfMemoryError, ResponseError

from bot_sdk.results.values import GameState
from service.store import keys
from service.store.errors import DamagedError
from tests.service.fakes import HOLD, first_legal, until


def of_another_kind(redis, key):
    redis.delete(key)
    put = redis.rpush if key.startswith(keys.SECRET) else redis.set
    put(key, "nonsense")


def meta_of_another_kind(redis, game):
    of_another_kind(redis, keys.game_meta(game))


def meta_unreadable(redis, game):
    redis.hset(keys.game_meta(game), "body", b"{")


def log_of_another_kind(redis, game):
    of_another_kind(redis, keys.game_log(game))


def log_unreadable(redis, game):
    redis.rpush(keys.game_log(game), b"nonsense")


def secret_of_another_kind(redis, game):
    of_another_kind(redis, keys.game_secret(game))


def secret_lost(redis, game):
    redis.delete(keys.game_secret(game))


DAMAGES = [
    meta_of_another_kind,
    meta_unreadable,
    log_of_another_kind,
    log_unreadable,
    secret_of_another_kind,
    secret_lost,
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_game_is_done_with_and_the_others_of_its_shard_are_played(worker, desk, redis, damage):
    damaged, good = desk.game("bot_a", "bot_b"), desk.game("bot_a", "bot_b")
    damage(redis, damaged)
    assert worker.drive(damaged, good) == []
    assert desk.state(good) is GameState.FINISHED
    assert desk.due_at(damaged) is None
    assert not desk.is_leased(damaged)
    if "meta" not in damage.__name__:
        assert desk.state(damaged) is GameState.ABORTED


@pytest.mark.parametrize("damage", [meta_of_another_kind, log_of_another_kind])
def test_game_damaged_while_it_is_played_breaks_off_alone(worker, desk, redis, calls, damage, caplog):
    damaged, good = desk.game("bot_a", "bot_b"), desk.game("bot_a", "bot_b")
    asked = []

    def damaging(decision):
        if not asked and decision["game"]["id"] == damaged:
            asked.append(decision)
            damage(redis, damaged)
        return first_legal(decision)

    calls.bots["bot_a"] = calls.bots["bot_b"] = damaging
    with caplog.at_level(logging.ERROR):
        assert worker.drive(damaged, good) == []
    assert asked
    assert f"game {damaged} broke" in caplog.text
    assert desk.state(good) is GameState.FINISHED


def test_the_run_of_peoples_games_outlives_a_damaged_one(worker, desk, redis):
    damaged, good = desk.game("human:ann", "bot_a"), desk.game("human:bea", "bot_a")
    log_of_another_kind(redis, damaged)
    run = worker.run()
    thread = threading.Thread(target=run.serve, daemon=True)
    thread.start()
    run.hand_in(damaged)
    run.hand_in(good)
    until(lambda: desk.state(damaged) is GameState.ABORTED and desk.log(good) != [])
    worker.stopping.set()
    thread.join(10)
    assert not thread.is_alive()


def test_damaged_ledger_costs_its_own_lines_alone(worker, desk, redis, store):
    of_another_kind(redis, keys.bot_ledger("bot_a"))
    game = desk.game("bot_a", "bot_b")
    worker.drive(game)
    assert desk.state(game) is GameState.FINISHED
    assert store.ledger.lines("bot_b", limit=100)[0] != []


def test_a_step_that_the_store_will_never_take_is_tried_once(worker):
    tried = []

    def step():
        assert not tried, "it was tried again"
        tried.append(1)
        raise ResponseError("WRONGTYPE Operation against a key holding the wrong kind of value")

    with pytest.raises(DamagedError, match="WRONGTYPE"):
        worker.referee.insist(step)


def test_a_step_that_the_store_takes_later_is_tried_until_it_does(worker):
    errors = [OutOfMemoryError("command not allowed"), ResponseError("MISCONF Errors writing to the AOF file: full")]

    def step():
        if errors:
            raise errors.pop()
        return "done"

    assert worker.referee.insist(step) == "done"


def test_game_that_was_packed_under_our_hands_and_is_damaged_takes_no_other_along(worker, desk, calls, redis):
    calls.bots["bot_a"] = lambda _decision: HOLD
    damaged, good = desk.game("bot_a", "bot_b"), desk.game("bot_a", "bot_b")
    run = worker.driving(damaged, good)
    until(lambda: len(calls.decisions_of("bot_a")) == 2)
    redis.delete(keys.game_meta(damaged), keys.game_log(damaged))
    redis.set(keys.game_packed(damaged), b"nonsense")
    calls.bots.clear()
    calls.let_go()
    assert run.result() == []
    assert desk.state(good) is GameState.FINISHED
