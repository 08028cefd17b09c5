"""What the store and the queues tell of the arena as metrics."""

from __future__ import annotations

import pytest
from dramatiq import Message
from redis.exceptions import ConnectionError as StoreGone

from service.arena.census import KINDS, Census
from service.arena.readiness import Readiness
from service.config import Settings
from service.jobs import DRIVE, INTERACTIVE, QUEUES, Backlogs, open_broker
from service.metrics.catalogue import METRICS
from service.store import due
from service.store.census import MORE
from service.store.census import Census as StoreCensus
from service.store.probe import Probe


@pytest.fixture
def settings(redis_url):
    return Settings.from_env({"REDIS_URL": redis_url})


@pytest.fixture
def census(store, settings):
    """Make a census; it looks as the API's does, at the time of the store."""
    probe, counter = Probe.open(settings.redis_url), StoreCensus.open(settings.redis_url)
    broker = open_broker(settings, is_patient=False)

    def make(queues=None):
        readiness = Readiness(
            probe.look, lambda: 0, store.due.now, iter(range(0, 10_000, 100)).__next__, settings.sweep_ms
        )
        return Census("0.1.0", readiness, counter.look, queues or Backlogs(broker).look, store.due.now)

    yield make
    probe.close()
    counter.close()
    broker.client.close()


def told(census):
    return {(cell.name.removeprefix("slagveld_"), *cell.labels): cell.values[0] for cell in census.cells()}


def test_everything_that_the_catalogue_says_of_the_arena_is_told(store, census):
    store.due.present("worker", 1_000)
    store.alarms.note("archive", "no room", until=store.due.now() + 60_000)
    assert {cell.name for cell in census().cells()} == {each.name for each in METRICS if each.is_arena}
    assert told(census())["alarm", "archive"] == 1.0
    assert told(census())["workers",] == 1.0


def test_what_is_due_is_counted_by_kind_and_by_whether_its_time_has_come(store, census):
    now = store.due.now()
    store.due.add_many({due.game("a"): now - 5_000, due.game("b"): now + 60_000, due.tournament("c"): now - 1_000})
    seen = told(census())
    assert {kind: seen["due", kind] for kind in KINDS if seen["due", kind]} == {"game": 2.0, "tournament": 1.0}
    assert {kind: seen["overdue", kind] for kind in KINDS if seen["overdue", kind]} == {"game": 1.0, "tournament": 1.0}
    assert 5.0 <= seen["overdue_oldest_age_seconds",] < 60.0


def test_no_more_names_are_looked_at_than_there_is_time_for(store, census, monkeypatch):
    monkeypatch.setattr("service.store.census.MOST", 3)
    now = store.due.now()
    store.due.add_many({due.game(str(number)): now - number for number in range(5)})
    seen = told(census())
    assert (seen["due", "game"], seen["due", MORE]) == (3.0, 2.0)


def test_queues_tell_how_much_waits_since_when_and_what_was_given_up(store, census, settings):
    broker = open_broker(settings)
    at = store.due.now() - 30_000
    for number in range(2):
        sent = at + number * 20_000
        broker.enqueue(Message(INTERACTIVE, DRIVE, (f"gam_{number}",), {}, {}, message_timestamp=sent))
    broker.client.zadd(f"{broker.namespace}:{INTERACTIVE}.XQ", {"one": 1, "two": 2, "three": 3})
    seen = told(census())
    assert (seen["queue_jobs", INTERACTIVE], seen["dead_letters", INTERACTIVE]) == (2.0, 3.0)
    assert 30.0 <= seen["queue_oldest_age_seconds", INTERACTIVE] < 90.0
    for queue in set(QUEUES.values()) - {INTERACTIVE}:
        assert (seen["queue_jobs", queue], seen["queue_oldest_age_seconds", queue], seen["dead_letters", queue]) == (
            0.0,
        ) * 3
    broker.client.close()


def test_store_that_is_away_is_said_to_be(census, monkeypatch):
    def gone(*_args):
        raise StoreGone

    seeing = census(queues=gone)
    monkeypatch.setattr("service.arena.readiness.Readiness.seen", gone)
    seen = told(seeing)
    assert seen["store_up",] == 0.0
    assert {name for name, *_ in seen} == {"build_info", "store_up"}
