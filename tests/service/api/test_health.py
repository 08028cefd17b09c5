"""`/health/ready`: alarms while the arena works, 503 as soon as it can't; it never writes, and never waits long."""

from __future__ import annotations

import os
import signal
import time
from importlib.metadata import version

import pytest

from service.launch.valkey import EmbeddedValkey
from service.store import due, keys
from service.store.connection import connect
from service.store.maintenance import Maintenance


@pytest.fixture
def ready(make_app):
    """Ask an app anew each time, as if a second had passed."""

    def ask(app=None):
        app = app or make_app()
        app.extensions["slagveld"].readiness._last = None
        return app.test_client().get("/health/ready")

    return ask


@pytest.fixture
def own(tmp_path):
    """Give a store of the test's own, that may be ill-treated."""
    with EmbeddedValkey(tmp_path / "own") as server:
        yield server


def words(answer):
    assert answer.status_code == 200, answer.text
    return {each["alarm"]: each["detail"] for each in answer.get_json()["alarms"]}


def test_all_is_well_while_a_worker_is_there(ready, store):
    store.due.present("worker", 5_000)
    answer = ready()
    assert answer.get_json() == {"status": "ok", "version": version("slagveld"), "alarms": []}


def test_workers_that_leave_something_to_nobody_are_told(ready, store):
    store.due.present("one", 5_000, due.PEOPLE)
    assert words(ready()) == {"no_worker": "no worker takes games of tournaments"}
    store.due.present("another", 5_000, due.TOURNAMENTS)
    assert words(ready()) == {}


def test_alarms_of_the_store_are_told(ready, store, redis):
    assert words(ready()) == {"no_worker": "no worker has ever been there"}
    now = store.due.now()
    redis.zadd(keys.WORKERS, {"worker": now - 60_000})
    store.due.add("game:gam_1", now - 500_000)
    store.alarms.note("archive", "games can't be archived: no space left on device", until=now + 60_000)
    store.alarms.note("dead_letters", "1 job was given up", until=now - 1)
    found = words(ready())
    assert list(found) == ["archive", "no_worker", "overdue"]
    store.alarms.clear("archive")
    store.maintenance.begin(Maintenance(reason="a secret reason", since=1))
    answer = ready()
    assert list(words(answer)) == ["maintenance", "no_worker", "overdue"]
    assert "secret" not in answer.text


def test_full_memory_is_an_alarm_before_it_is_the_end(make_app, ready, own):
    app, client = make_app(REDIS_URL=own.url), connect(own.url)
    client.config_set("maxmemory", int(client.info("memory")["used_memory"] * 1.1))
    assert "memory" in words(ready(app))
    client.config_set("maxmemory", 1)
    answer = ready(app)
    assert (answer.status_code, answer.get_json()["code"]) == (503, "store_away")
    assert answer.headers["Retry-After"]
    client.config_set("maxmemory", 0)
    assert "memory" not in words(ready(app))
    client.close()


def test_store_that_only_reads_is_not_ready_and_nothing_was_written(make_app, ready, own):
    app, client = make_app(REDIS_URL=own.url), connect(own.url)
    client.replicaof("127.0.0.1", 1)
    assert ready(app).status_code == 503
    client.replicaof("no", "one")
    changes = client.info("persistence")["rdb_changes_since_last_save"]
    for _ in range(5):
        assert ready(app).status_code == 200
    assert client.info("persistence")["rdb_changes_since_last_save"] == changes
    assert client.dbsize() == 0
    client.close()


def test_snapshot_that_could_not_be_written_is_an_alarm(make_app, ready, tmp_path):
    with EmbeddedValkey(tmp_path / "own", options=("--dbfilename", "taken.rdb")) as own:
        (own.log_path.parent / "taken.rdb").mkdir()
        app, client = make_app(REDIS_URL=own.url), connect(own.url)
        assert "persistence" not in words(ready(app))
        client.bgsave()
        ends = time.monotonic() + 20
        while client.info("persistence")["rdb_bgsave_in_progress"]:
            assert time.monotonic() < ends
            time.sleep(0.01)
        assert "persistence" in words(ready(app))
        client.close()


@pytest.mark.parametrize("is_connected", [True, False])
def test_stalled_store_is_told_within_two_seconds(make_app, ready, own, is_connected):
    app = make_app(REDIS_URL=own.url)
    if is_connected:
        ready(app)
    os.kill(own.pid, signal.SIGSTOP)
    try:
        began = time.monotonic()
        answer = ready(app)
        took = time.monotonic() - began
    finally:
        os.kill(own.pid, signal.SIGCONT)
    assert (answer.status_code, answer.get_json()["code"]) == (503, "store_away")
    assert took < 9
    assert ready(app).status_code == 200


def test_details_hold_no_path_and_no_secret(ready, store, redis):
    store.alarms.note("archive", "games can't be archived: permission denied", until=store.due.now() + 60_000)
    text = ready().text
    assert "/" not in text.replace("application/json", "")
    assert "secret" not in text


def test_store_that_is_back_is_ready_without_a_restart_of_the_api(make_app, ready, own):
    app = make_app(REDIS_URL=own.url)
    assert ready(app).status_code == 200
    own.kill()
    assert ready(app).status_code == 503
    own.start()
    assert ready(app).status_code == 200


def test_jobs_that_nobody_can_be_asked_for_are_no_reason_not_to_be_ready(ready, make_app, store):
    store.due.present("worker", 5_000)
    app = make_app(SLAGVELD_BROKER_URL="redis://127.0.0.1:1/0")
    assert words(ready(app)) == {}
