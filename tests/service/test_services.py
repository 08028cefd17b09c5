"""The parts of one process, and what is left of them once they are closed: nothing that only a collector would find."""

from __future__ import annotations

import sys

import pytest

from service.app import create_app
from service.config import Settings
from service.jobs import BrokerQueue, open_broker
from service.services import open_services
from service.worker.process import WorkerProcess
from tests.service.fakes import until

OPERATOR = "operator-" * 5
ASKED = ("/v1/rulesets", "/v1/games", "/health/ready", "/v1/admin/dead-letters")


@pytest.fixture
def settings(redis_url):
    return Settings.from_env({"REDIS_URL": redis_url, "SLAGVELD_ADMIN_TOKEN": OPERATOR})


@pytest.fixture
def opened(redis):
    """Tell how many connections the store has that it didn't have at the beginning."""
    before = {each["id"] for each in redis.client_list()}
    return lambda: len({each["id"] for each in redis.client_list()} - before)


def test_closed_services_leave_no_connection_open(settings, opened):
    broker = open_broker(settings)
    services = open_services(settings, BrokerQueue(broker))
    client = create_app(services).test_client()
    for path in ASKED:
        assert client.get(path, headers={"Authorization": f"Bearer {OPERATOR}"}).status_code == 200
    assert opened() > 2
    services.close()
    until(lambda: opened() == 0)


def test_a_worker_that_has_stopped_leaves_no_connection_open(settings, opened):
    before = sys.getswitchinterval()
    process = WorkerProcess(settings)
    process.start()
    try:
        until(lambda: opened() > 5)
    finally:
        process.stop()
        sys.setswitchinterval(before)
    until(lambda: opened() == 0)
