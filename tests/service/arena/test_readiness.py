"""What is an alarm and what isn't, and how often the store is asked."""

from __future__ import annotations

import contextlib
import threading

import pytest
from msgspec.structs import replace

from service.arena.readiness import APART_MS, OVERDUE_MS, WORKER_MS, Readiness
from service.store import due
from service.store.probe import Seen
from tests.service.fakes import Clock

NOW = 1_700_000_000_000
WELL = Seen(
    now=NOW,
    used=80,
    limit=100,
    is_saved=True,
    oldest_due=NOW - OVERDUE_MS,
    last_worker=NOW - WORKER_MS,
    last_takers={due.PEOPLE: NOW - WORKER_MS, due.TOURNAMENTS: NOW - WORKER_MS},
    begins_games=True,
    alarms={},
)


def alarms(clock=NOW, sweep_ms=1_000, letters=0, **changes):
    return Readiness(lambda: replace(WELL, **changes), lambda: letters, lambda: clock, lambda: 0.0, sweep_ms).alarms()


def test_nothing_is_wrong_up_to_the_bounds():
    assert alarms() == {}
    assert alarms(oldest_due=None) == {}
    assert alarms(used=10**9, limit=0) == {}
    assert alarms(clock=NOW - APART_MS) == alarms(clock=NOW + APART_MS) == {}


@pytest.mark.parametrize(
    ("changes", "word", "detail"),
    [
        ({"used": 81}, "memory", "the store uses 81% of the memory it has"),
        ({"is_saved": False}, "persistence", "the store failed to save what it holds the last time it tried"),
        ({"last_worker": None}, "no_worker", "no worker has ever been there"),
        ({"last_worker": NOW - WORKER_MS - 1}, "no_worker", "no worker has been there for 30 s"),
        ({"last_takers": {due.PEOPLE: NOW}}, "no_worker", "no worker takes games of tournaments"),
        (
            {"last_takers": {due.PEOPLE: NOW, due.TOURNAMENTS: NOW - WORKER_MS - 1}},
            "no_worker",
            "no worker takes games of tournaments",
        ),
        (
            {"last_takers": {due.TOURNAMENTS: NOW}},
            "no_worker",
            "no worker takes games of people and checks of bots",
        ),
        ({"oldest_due": NOW - 200_000}, "overdue", "something that is to be done has been waiting for 200 s"),
        ({"clock": NOW + 3_600_000}, "clock", "the clocks of the API and of the store are 3600 s apart"),
        ({"clock": NOW - 6_000}, "clock", "the clocks of the API and of the store are 6 s apart"),
        ({"begins_games": False}, "maintenance", "no new games begin: the operator works on the arena"),
        ({"alarms": {"archive": "no space"}}, "archive", "no space"),
        ({"letters": 1}, "dead_letters", "1 job was given up lately"),
        ({"letters": 12}, "dead_letters", "12 jobs were given up lately"),
    ],
)
def test_what_is_past_a_bound_is_an_alarm(changes, word, detail):
    assert alarms(**changes) == {word: detail}


def test_workers_that_sweep_seldom_are_missed_later():
    before = NOW - 299_000
    takers = dict.fromkeys(WELL.last_takers, before)
    assert alarms(sweep_ms=60_000, last_worker=before, last_takers=takers) == {}
    assert "no_worker" in alarms(sweep_ms=60_000, last_worker=NOW - 301_000)


@pytest.mark.parametrize("told", [WELL, ConnectionError("away")])
def test_store_is_asked_once_a_second_however_many_ask(told):
    asked, told_each, time = [], [], Clock(0)

    def look():
        asked.append(time.now)
        if isinstance(told, Exception):
            raise told
        return told

    def ask():
        with contextlib.suppress(ConnectionError):  # what is counted is who asked
            told_each.append(readiness.alarms())

    readiness = Readiness(look, lambda: 0, lambda: NOW, lambda: time.now / 1000, 1_000)
    for at in (0, 500, 1_000, 1_001, 1_900, 2_500):
        time.now = at
        many = [threading.Thread(target=ask) for _ in range(8)]
        for each in many:
            each.start()
        for each in many:
            each.join()
    assert asked == [0, 1_001, 2_500]
    assert told_each == ([{}] * 48 if told is WELL else [])
