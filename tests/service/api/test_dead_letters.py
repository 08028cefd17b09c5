"""Jobs that were given up: a real one, of a worker whose job always fails."""

from __future__ import annotations

import contextlib

import dramatiq
import pytest
from dramatiq.worker import Worker

from service.config import Settings
from service.jobs import CHECK_BOT, CHECKS, DRIVE, INTERACTIVE, BrokerQueue, open_broker
from tests.service.api.answers import problem
from tests.service.api.test_maintenance import ADMIN, OPERATOR
from tests.service.fakes import until

PATH = "/v1/admin/dead-letters"


@pytest.fixture
def app(make_app):
    return make_app(SLAGVELD_ADMIN_TOKEN=ADMIN)


@pytest.fixture
def settings(redis_url):
    return Settings.from_env({"REDIS_URL": redis_url})


@pytest.fixture
def working(settings):
    """Run a worker of a queue whose job is `work`, tried once more after a failure."""

    @contextlib.contextmanager
    def run(work, job=CHECK_BOT, queue=CHECKS):
        broker = open_broker(settings)
        patience = {"max_retries": 1, "min_backoff": 1, "max_backoff": 2}
        dramatiq.actor(work, actor_name=job, queue_name=queue, broker=broker, **patience)
        worker = Worker(broker, queues={queue}, worker_threads=1, worker_timeout=20)
        worker.start()
        try:
            yield
        finally:
            worker.stop()

    return run


@pytest.fixture
def letters(client):
    def read(query=""):
        answer = client.get(PATH + query, headers=OPERATOR)
        assert answer.status_code == 200, answer.text
        return answer.get_json()["items"]

    return read


@pytest.fixture
def dead(working, letters, settings):
    """Let jobs die, each with its id; give their letters, the last dead first."""

    def bury(*ids):
        with working(fail):
            for each in ids:
                BrokerQueue(open_broker(settings)).check(each)
            until(lambda: len(letters()) == len(ids), timeout_s=30)
        return letters()

    return bury


def fail(check_id):
    raise RuntimeError(f"no luck\nwith {check_id}")


def replay(client, letter_id):
    return client.post(f"{PATH}/{letter_id}/replay", headers=OPERATOR)


def test_a_job_given_up_is_shown(dead):
    (letter,) = dead("chk_1")
    assert (letter["job"], letter["args"], letter["queue"]) == (CHECK_BOT, ["chk_1"], CHECKS)
    assert (letter["error"], letter["retries"]) == ("with chk_1", 1)
    assert letter["at"] > 1_700_000_000_000


def test_it_is_done_once_however_often_it_is_sent_again(client, dead, working, letters):
    (letter,) = dead("chk_1")
    for _ in range(3):
        assert replay(client, letter["id"]).status_code == 204
    assert letters() == []
    done = []
    with working(done.append):
        until(lambda: done)
        assert replay(client, letter["id"]).status_code == 204
    assert done == ["chk_1"]


def test_two_who_send_it_at_once_send_it_once(app, client, dead, working, monkeypatch):
    """As does the store's client, when the answer to its command was lost."""
    (letter,) = dead("chk_1")
    letters = app.extensions["slagveld"].dead_letters
    found = letters._find(letter["id"])
    monkeypatch.setattr(type(letters), "_find", lambda *_: found)
    assert [replay(client, letter["id"]).status_code for _ in range(2)] == [204, 204]
    done = []
    with working(done.append):
        until(lambda: done)
    assert done == ["chk_1"]


def test_one_that_dies_again_is_another_letter_and_can_be_sent_again(client, dead, working, letters):
    (first,) = dead("chk_1")
    replay(client, first["id"])
    with working(fail):
        until(letters, timeout_s=30)
    (second,) = letters()
    assert second["id"] != first["id"]
    done = []
    assert replay(client, second["id"]).status_code == 204
    with working(done.append):
        until(lambda: done)


def test_one_that_was_never_tried_again_comes_from_its_own_queue(client, working, letters, settings):
    """A job that no worker knows dies at once, without a word."""
    with working(print, "another", INTERACTIVE):
        BrokerQueue(open_broker(settings)).drive("gam_1")
        until(letters, timeout_s=30)
    (letter,) = letters()
    assert (letter["job"], letter["queue"], letter["error"], letter["retries"]) == (DRIVE, INTERACTIVE, None, 0)
    done = []
    replay(client, letter["id"])
    with working(done.append, DRIVE, INTERACTIVE):
        until(lambda: done)
    assert done == ["gam_1"]


def test_one_that_is_deleted_is_gone(client, dead, letters):
    one, other = dead("chk_1", "chk_2")
    assert client.delete(f"{PATH}/{one['id']}", headers=OPERATOR).status_code == 204
    assert letters() == [other]
    problem(client.delete(f"{PATH}/{one['id']}", headers=OPERATOR), 404, "not_found")
    problem(replay(client, one["id"]), 404, "not_found")


def test_they_are_listed_by_pages_from_the_last(client, dead):
    found = dead("chk_1", "chk_2", "chk_3")
    assert [each["at"] for each in found] == sorted((each["at"] for each in found), reverse=True)
    first = client.get(f"{PATH}?limit=2", headers=OPERATOR).get_json()
    rest = client.get(f"{PATH}?limit=2&cursor={first['next_cursor']}", headers=OPERATOR).get_json()
    assert first["items"] + rest["items"] == found
    assert rest["next_cursor"] is None


def test_the_operator_hears_of_them_until_they_are_gone(client, dead, store, app):
    (letter,) = dead("chk_1")

    def alarms():
        app.extensions["slagveld"].readiness._last = None  # as if a second had passed
        return [each["alarm"] for each in client.get("/health/ready").get_json()["alarms"]]

    store.due.present("worker", 5_000)
    assert alarms() == ["dead_letters"]
    client.delete(f"{PATH}/{letter['id']}", headers=OPERATOR)
    assert alarms() == []


def test_nobody_else_may(client, host):
    problem(host("GET", PATH), 403, "wrong_kind_of_token")
    problem(host("POST", f"{PATH}/00000000-0000-4000-8000-000000000000/replay"), 403, "wrong_kind_of_token")
    problem(client.get(PATH), 401, "token_needed")
