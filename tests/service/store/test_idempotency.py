from __future__ import annotations

import time

import pytest

from service.store.idempotency import Answer

ANSWER = Answer(201, {"Location": "/v1/games/gam_1"}, b'{"id":"gam_1"}\xff')


@pytest.fixture
def requests(store):
    return store.idempotency


def test_request_runs_from_new_over_in_flight_to_its_stored_answer(requests):
    begun = requests.begin("key", "body")
    assert begun.status == "new"
    assert requests.begin("key", "body").status == "in_flight"
    assert requests.finish(begun, ANSWER)
    again = requests.begin("key", "body")
    assert (again.status, again.answer) == ("stored", ANSWER)


def test_other_body_under_the_same_key_is_a_conflict_at_any_time(requests):
    begun = requests.begin("key", "body")
    assert requests.begin("key", "other").status == "conflict"
    requests.finish(begun, ANSWER)
    assert requests.begin("key", "other").status == "conflict"
    assert requests.begin("other key", "other").status == "new"


def test_abandoned_request_is_new_again(requests):
    begun = requests.begin("key", "body")
    requests.abandon(begun)
    requests.abandon(begun)
    assert requests.begin("key", "other").status == "new"


def test_finished_request_cannot_be_abandoned(requests):
    begun = requests.begin("key", "body")
    requests.finish(begun, ANSWER)
    requests.abandon(begun)
    assert requests.begin("key", "body").status == "stored"


def test_dead_try_makes_room_and_cannot_overwrite_the_next_ones_answer(requests):
    dead = requests.begin("key", "body", in_flight_ms=20)
    ends = time.monotonic() + 5
    while (alive := requests.begin("key", "body")).status != "new":
        assert time.monotonic() < ends
    assert not requests.finish(dead, Answer(500, {}, b""))
    requests.abandon(dead)
    assert requests.finish(alive, ANSWER)
    assert requests.finish(alive, ANSWER)
    assert not requests.finish(dead, Answer(500, {}, b""))
    assert requests.begin("key", "body").answer == ANSWER


def test_slow_try_that_nobody_replaced_still_keeps_its_answer(redis, requests):
    begun = requests.begin("key", "body")
    redis.flushdb()  # its half minute is over
    assert requests.finish(begun, ANSWER)
    assert requests.begin("key", "body").answer == ANSWER


def test_begin_whose_answer_was_lost_is_still_new(requests, lose_answers):
    assert lose_answers(lambda: requests.begin("key", "body")).status == "new"


def test_times_are_bounded_and_keys_of_any_length(redis, requests):
    begun = requests.begin("k" * 10_000 + "ü", "body")
    (name,) = redis.keys("*")
    assert name.startswith(b"secret:")
    assert len(name) < 100
    assert 29_000 < redis.pttl(name) <= 30_000
    requests.finish(begun, ANSWER)
    assert 86_399_000 < redis.pttl(name) <= 86_400_000
