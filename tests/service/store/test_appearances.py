"""The list of a bot's last games: whatever comes twice, late or in disorder, it holds the newest of them, once each."""

from __future__ import annotations

import random

import pytest

from service.store import keys
from service.store.appearances import KEPT, Appearance, AppearanceStore
from service.store.errors import BadCursorError
from service.store.newest import KEPT_S

BOT = "bot_a"


def appearance(number, **changes):
    values = {
        "game_id": f"gam_{number:026d}",
        "at": 1_700_000_000_000 + number // 3,
        "ruleset": "river",
        "seats": [number % 4],
        "totals": [31, -4, 120, 77],
        "places": [3, 4, 1, 2],
        "is_retired": False,
        "outcomes": {"illegal": 1, "late": 2, "ok": 41},
        "times": [(3, 9), (17, 31), (18, 4)],
    }
    return Appearance(**(values | changes))


@pytest.fixture
def appearances(redis):
    return AppearanceStore(redis, keep=5)


def test_appearances_come_back_newest_first_page_by_page(appearances):
    games = [appearance(n, places=None if n % 2 else [1, 2, 3, 4]) for n in range(5)]
    for game in games:
        appearances.add({BOT: game})
    assert appearances.all_of(BOT) == games[::-1]
    first, cursor = appearances.page(BOT, limit=3)
    rest, end = appearances.page(BOT, limit=3, cursor=cursor)
    assert (first + rest, end) == (games[::-1], None)
    assert appearances.all_of("bot_b") == []
    with pytest.raises(BadCursorError):
        appearances.page(BOT, limit=3, cursor="Z2FtXzE")


def test_whatever_comes_twice_and_in_whichever_order_the_newest_are_there_once(appearances, redis):
    """Nobody needs to know whether a game was counted before: not even one that has left the list by then."""
    draw = random.Random(7)
    games = [appearance(n) for n in range(12)]
    expected = games[:-6:-1]
    for _ in range(20):
        redis.flushdb()
        for game in draw.sample(games * 3, len(games) * 3):
            appearances.add({BOT: game})
        assert appearances.all_of(BOT) == expected


def test_bots_of_a_game_are_noted_together(appearances):
    appearances.add({BOT: appearance(1, seats=[0]), "house:greedy": appearance(1, seats=[1, 2, 3])})
    appearances.add({})
    assert [appearances.all_of(bot)[0].seats for bot in (BOT, "house:greedy")] == [[0], [1, 2, 3]]


def test_list_of_a_bot_that_plays_no_more_runs_out(appearances, redis):
    appearances.add({BOT: appearance(1)})
    assert 0 < redis.ttl(keys.bot_appearances(BOT)) <= KEPT_S


def test_deleted_bot_takes_its_appearances_along(store, make_bot):
    bot = make_bot()
    store.bots.create(bot, secret="whsec_x")
    store.appearances.add({bot.id: appearance(1)})
    store.bots.delete(bot)
    assert store.appearances.all_of(bot.id) == []


def test_a_damaged_list_takes_nothing_from_the_others(appearances, redis, caplog):
    redis.set(keys.bot_appearances(BOT), "not a list")
    appearances.add({BOT: appearance(1), "bot_b": appearance(1)})
    assert appearances.all_of("bot_b") == [appearance(1)]
    assert "lost" in caplog.text


def test_a_bot_costs_no_more_than_the_documents_say(store, redis):
    """The worst: a River of four with faults of all kinds and times of all classes, for ever."""
    outcomes = dict.fromkeys(("bad_reply", "bad_status", "illegal", "late", "ok", "retired", "unreachable"), 12)
    for n in range(KEPT + 50):
        store.appearances.add({BOT: appearance(n, outcomes=outcomes, times=[(number, 3) for number in range(5, 25)])})
    assert len(store.appearances.all_of(BOT)) == KEPT
    assert redis.memory_usage(keys.bot_appearances(BOT), samples=0) < 100_000
