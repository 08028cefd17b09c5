"""Checks are counted for a day, each once, by everybody together."""

from __future__ import annotations

import threading

import pytest

from service.store import challenges

HOUR_MS = 3_600_000


@pytest.fixture
def age(redis):
    """Make the checks that count against anything older."""

    def run(ms):
        for name in redis.scan_iter("challenges:*"):
            for member, at in redis.zrange(name, 0, -1, withscores=True):
                redis.zadd(name, {member: at - ms})

    return run


def test_so_many_are_admitted_and_the_next_waits_until_the_oldest_is_a_day_old(store, age):
    assert store.challenges.admit("host x", "chk_1", 2) == 0
    age(HOUR_MS)
    assert store.challenges.admit("host x", "chk_2", 2) == 0
    assert store.challenges.admit("host x", "chk_3", 2) == pytest.approx(23 * HOUR_MS, abs=60_000)
    assert store.challenges.admit("host y", "chk_3", 2) == 0
    age(23 * HOUR_MS + 1)
    assert store.challenges.admit("host x", "chk_3", 2) == 0
    assert store.challenges.admit("host x", "chk_4", 2) == pytest.approx(HOUR_MS, abs=60_000)


def test_the_same_check_counts_once(store):
    assert [store.challenges.admit("host x", "chk_1", 1) for _ in range(3)] == [0, 0, 0]


def test_count_that_is_sent_twice_is_one(store, lose_answers):
    assert lose_answers(lambda: store.challenges.admit("host x", "chk_1", 2), when=lambda answer: answer == 0) == 0
    assert store.challenges.admit("host x", "chk_2", 2) == 0


def test_whoever_has_less_of_a_limit_waits_until_that_has_room(store, age):
    """The arena's own checks take half: when all are used by others, it waits for half of them to go."""
    for number in range(4):
        store.challenges.admit("host x", f"chk_{number}", 4)
        age(HOUR_MS)
    assert store.challenges.admit("host x", "chk_9", 2) == pytest.approx(22 * HOUR_MS, abs=60_000)


def test_of_many_at_once_no_more_than_the_limit_are_admitted(store):
    told = []
    threads = [
        threading.Thread(target=lambda n=n: told.append(store.challenges.admit("host x", f"chk_{n}", 5)))
        for n in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert told.count(0) == 5


def test_counts_go_with_their_day_and_name_nobody(store, redis):
    store.challenges.admit("host secret.example", "chk_1", 2)
    (name,) = redis.keys("*challenges*")
    assert b"secret" not in name
    assert 0 < redis.pttl(name) <= challenges.DAY_MS
