from __future__ import annotations

import pytest

from bot_sdk.results.values import GameState
from service.store import keys
from service.store.door import Counter, Door, Passed

NARROW, WIDE = Counter("narrow", 2, 60), Counter("wide", 100, 60)


@pytest.fixture
def door(redis, store):
    return Door(redis, store.clock)


def test_the_first_limit_that_was_passed_is_told_and_nothing_after_it_counts(door, redis):
    assert [door.count([NARROW, WIDE]) for _ in range(2)] == [None, None]
    refused = door.count([NARROW, WIDE])
    assert isinstance(refused, Passed)
    assert refused.at == 0
    assert 0 < refused.seconds <= 60
    assert redis.get(keys.rate("wide")) == b"2"
    assert 0 < redis.ttl(keys.rate("wide")) <= 60


def test_a_script_that_the_server_has_forgotten_is_loaded_again(door, redis):
    redis.script_flush()
    assert door.count([WIDE]) is None
    redis.script_flush()
    assert door.glance([WIDE], "gam_none")[1].marks is None


def test_a_glance_tells_how_a_game_stands_and_who_holds_its_seats(door, store, make_game):
    game = make_game(state=GameState.RUNNING)
    store.games.create(game, secret=b"s" * 32, due_at=1, tokens={0: "aa", 1: "bb"})
    passed, glance = door.glance([WIDE], game.id)
    assert passed is None
    assert (glance.marks.state, glance.marks.length, glance.marks.stamp) == (GameState.RUNNING, 0, None)
    assert glance.marks.started_at == store.games.get(game.id).started_at
    assert (glance.seat_of("bb"), glance.seat_of("cc")) == (1, None)
    assert abs(glance.moment.now - store.due.now()) < 10_000


@pytest.mark.parametrize(
    "damage",
    [
        lambda redis, game_id: redis.hset(keys.game_meta(game_id), "state", b"\xff"),
        lambda redis, game_id: redis.hset(keys.game_meta(game_id), "started_at", "noon"),
        lambda redis, game_id: redis.rpush(keys.game_log(game_id), "noon and more"),
        lambda redis, game_id: redis.hset(keys.game_tokens(game_id), "0", b"\xff"),
        lambda redis, game_id: redis.hset(keys.game_tokens(game_id), "first", "aa"),
    ],
)
def test_what_is_damaged_in_a_game_keeps_nobody_from_being_counted(door, redis, make_game, store, damage):
    game = make_game(state=GameState.RUNNING)
    store.games.create(game, secret=b"s" * 32, due_at=1, tokens={0: "aa"})
    damage(redis, game.id)
    assert [door.glance([NARROW], game.id) for _ in range(2)] == [(None, None)] * 2
    passed, _ = door.glance([NARROW], game.id)
    assert passed.at == 0


def test_a_game_that_can_not_be_looked_at_is_counted_all_the_same(door, redis, make_game, store):
    game = make_game(state=GameState.RUNNING)
    store.games.create(game, secret=b"s" * 32, due_at=1)
    redis.set(keys.game_log(game.id), "no log")
    assert door.glance([WIDE], game.id) == (None, None)
    assert redis.get(keys.rate("wide")) == b"1"
