"""A game of rules that this release doesn't know isn't played, nor ended: it waits for who knows them."""

from __future__ import annotations

import dataclasses
import logging

import pytest

from bot_sdk.games import registry
from bot_sdk.results.values import GameState
from service.referee.held import OTHERS_MS, RULES, RULES_MS
from service.store import keys
from service.store.alarms import standing
from tests.service.fakes import first_legal

UNKNOWN = [{"rules": 2}, {"rules": 0}, {"ruleset": "hearts"}]


def alarms(store, later_ms=0):
    return standing(store._redis.hgetall(keys.ALARMS), store.due.now() + later_ms)


@pytest.mark.parametrize("pinned", UNKNOWN, ids=str)
def test_game_of_unknown_rules_is_left_as_it_is_and_the_others_of_its_shard_are_played(
    worker, desk, store, redis, pinned, caplog
):
    unknown, good = desk.game("bot_a", "bot_b", **pinned), desk.game("bot_a", "bot_b")
    before = redis.hgetall(keys.game_meta(unknown))
    asked_at = store.due.now()
    with caplog.at_level(logging.ERROR):
        assert worker.drive(unknown, good) == []
    assert desk.state(good) is GameState.FINISHED
    assert redis.hgetall(keys.game_meta(unknown)) == before  # not one try is counted
    assert desk.log(unknown) == []
    assert not desk.is_leased(unknown)
    assert asked_at + OTHERS_MS <= desk.due_at(unknown) <= store.due.now() + OTHERS_MS
    assert list(alarms(store)) == [RULES]
    assert alarms(store, RULES_MS) == {}
    assert f"game {unknown} isn't played here: expected the rules seven_up 1, river 1" in caplog.text


def test_game_half_played_by_another_release_goes_on_where_it_stood_once_its_rules_are_known(
    worker, desk, store, calls, monkeypatch
):
    game = desk.game("bot_a", "bot_b", rules=2)
    calls.bots["bot_a"] = calls.bots["bot_b"] = first_legal
    worker.drive(game)
    newer = dataclasses.replace(registry.RULESETS["seven_up"], version=2)
    monkeypatch.setitem(registry.RULESETS, "seven_up", newer)
    worker.drive(game)
    assert desk.state(game) is GameState.FINISHED
    assert desk.table(game).record("finished").rules == 2


def test_game_that_ended_under_unknown_rules_is_not_settled_by_who_cannot_tell_how(worker, desk, store):
    game = desk.game("bot_a", "bot_b", rules=2)
    store.games.end(game, GameState.CANCELLED)
    worker.drive(game)
    assert desk.state(game) is GameState.CANCELLED
    assert desk.due_at(game) is not None
