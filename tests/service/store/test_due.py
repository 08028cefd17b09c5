from __future__ import annotations

import time

from service.store import due as names
from service.store import keys


def test_peek_gives_the_longest_overdue_first_and_leaves_them(due):
    due.add("game:b", 20)
    due.add("game:a", 10)
    due.add("tournament:c", 30)
    due.add("game:d", 31)
    assert due.peek(30, 10) == [("game:a", 10), ("game:b", 20), ("tournament:c", 30)]
    assert due.peek(30, 2) == [("game:a", 10), ("game:b", 20)]
    assert due.count() == 4


def test_adding_again_sets_the_time(due):
    due.add("game:a", 10)
    due.add("game:a", 50)
    assert due.at("game:a") == 50
    due.add("game:a", 5)
    assert due.at("game:a") == 5


def test_moving_does_not_bring_back_what_left(due):
    due.add("game:a", 10)
    due.add("game:b", 10)
    due.drop("game:b")
    due.move({"game:a": 99, "game:b": 99})
    assert due.at("game:a") == 99
    assert due.at("game:b") is None
    due.move({})
    due.drop()


def test_moving_from_a_known_time_leaves_what_others_have_set(due):
    due.add("game:a", 10)
    due.add("game:b", 20)
    assert due.move_from({"game:a": 10, "game:b": 10, "game:c": 10}, 99) == {"game:a": 99, "game:b": 20}
    assert [due.at(name) for name in ("game:a", "game:b", "game:c")] == [99, 20, None]
    assert due.move_from({}, 99) == {}


def test_moving_sent_twice_moves_once(due, lose_answers):
    due.add("game:a", 10)
    assert lose_answers(lambda: due.move_from({"game:a": 10}, 99), when=lambda told: told == [99]) == {"game:a": 99}


def test_games_and_tournaments_do_not_collide():
    assert names.game("x") != names.tournament("x")


def test_clock_is_the_servers_in_milliseconds(due):
    assert abs(due.now() - time.time() * 1000) < 5_000


def test_one_sweeper_at_a_time(redis, due):
    assert due.lock("a", 60_000)
    assert due.lock("a", 60_000)
    assert not due.lock("b", 60_000)
    due.unlock("b")
    assert not due.lock("b", 60_000)
    due.unlock("a")
    assert due.lock("b", 60_000)
    assert 0 < redis.pttl("sweeper") <= 60_000


def test_dead_sweepers_lock_runs_out(due):
    assert due.lock("dead", 30)
    ends = time.monotonic() + 5
    while not due.lock("next", 30):
        assert time.monotonic() < ends


def test_only_workers_that_take_games_of_tournaments_are_counted(due):
    assert due.workers(60_000) == 0
    assert due.present("one", 60_000) == 1
    assert due.present("two", 60_000, names.PEOPLE) == 1
    assert due.present("three", 60_000, names.TOURNAMENTS) == 2
    assert due.present("three", 60_000, names.TOURNAMENTS) == 2
    assert due.workers(60_000) == 2


def test_workers_that_were_not_there_lately_are_remembered_for_a_minute_and_not_counted(due, redis):
    now = due.now()
    redis.zadd(keys.WORKERS, {"dead": now - 10_000, "forgotten": now - names.REMEMBERED_MS - 1})
    assert due.present("one", 5_000) == 1
    assert due.workers(9_000) == 1
    assert due.workers(50_000) == 2
    assert redis.zrange(keys.WORKERS, 0, -1) == [b"dead", b"one"]
