from __future__ import annotations

import threading

from bot_sdk.results.values import GameState
from service.store.entities import Seat

SECRET = bytes(32)


def test_reservation_counts_once_and_holds_the_limit(unfinished):
    assert unfinished.reserve("bot:a", "gam_1", 2)
    assert unfinished.reserve("bot:a", "gam_1", 2)
    assert unfinished.reserve("bot:a", "gam_2", 2)
    assert not unfinished.reserve("bot:a", "gam_3", 2)
    assert unfinished.reserve("bot:a", "gam_1", 2)
    assert unfinished.games("bot:a") == ["gam_1", "gam_2"]
    unfinished.drop("bot:a", "gam_1")
    assert unfinished.reserve("bot:a", "gam_3", 2)
    unfinished.drop("bot:a")
    assert unfinished.count("bot:a") == 2


def test_many_at_once_never_exceed_the_limit(unfinished):
    barrier = threading.Barrier(10)
    told = []

    def reserve(n):
        barrier.wait(timeout=30)
        told.append(unfinished.reserve("bot:a", f"gam_{n}", 4))

    threads = [threading.Thread(target=reserve, args=[n]) for n in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert sum(told) == unfinished.count("bot:a") == 4


def test_full_owner_gets_room_from_what_crashes_left_behind(redis, games, unfinished, make_game):
    games.create(make_game("gam_live"), secret=SECRET, due_at=None)
    games.create(make_game("gam_over"), secret=SECRET, due_at=None)
    games.end("gam_over", GameState.ABORTED)
    redis.zadd("unfinished:bot:a", {"gam_live": 1, "gam_over": 1, "gam_never": 1})
    assert unfinished.reserve("bot:a", "gam_new", 3)
    assert unfinished.games("bot:a") == ["gam_live", "gam_new"]


def test_owner_of_whom_there_may_be_any_number_is_forgotten_in_time(redis, unfinished):
    assert unfinished.reserve("address:10.0.0.1", "gam_1", 1, kept_ms=60_000)
    assert 0 < redis.pttl("unfinished:address:10.0.0.1") <= 60_000
    assert unfinished.reserve("bot:a", "gam_1", 1)
    assert redis.pttl("unfinished:bot:a") == -1


def test_fresh_reservation_is_not_taken_for_a_leftover(unfinished):
    assert unfinished.reserve("bot:a", "gam_soon", 1)
    assert not unfinished.reserve("bot:a", "gam_other", 1)
    assert unfinished.games("bot:a") == ["gam_soon"]


def test_game_counts_for_its_bots_and_its_creator_but_no_house_bot(games, unfinished, make_game):
    seats = [Seat(kind="bot", name="x", bot_id="bot_x"), Seat(kind="house", name="r", bot_id="house:random")]
    games.create(make_game(seats=seats, owner="acc_1"), secret=SECRET, due_at=None)
    assert unfinished.games("bot:bot_x") == unfinished.games("account:acc_1") == ["gam_1"]
    assert unfinished.games("bot:house:random") == []


def test_bot_that_takes_an_open_seat_is_counted(games, unfinished, make_game):
    games.create(make_game(seats=[Seat(kind="open", name="")], entropy=[""]), secret=SECRET, due_at=None)
    games.fill_seat("gam_1", 0, Seat(kind="bot", name="x", bot_id="bot_x"), replaces="open")
    assert unfinished.games("bot:bot_x") == ["gam_1"]
    games.settle(games.get("gam_1"))
    assert unfinished.games("bot:bot_x") == []
