"""A job, and the request that caused it."""

from __future__ import annotations

import queue
import sys

import pytest

from service.config import Settings
from service.logs import about
from service.worker.process import WorkerProcess


class Telling(WorkerProcess):
    """A worker process whose checks and games only tell what their lines would be about."""

    def __init__(self, settings: Settings) -> None:
        self.told: queue.Queue[dict[str, str]] = queue.Queue()
        super().__init__(settings)

    def drive(self, game_id):
        self.told.put(dict(about.ids()))
        if game_id == "gam_broken":
            raise ZeroDivisionError


@pytest.fixture
def telling(redis_url):
    before = sys.getswitchinterval()
    process = Telling(Settings.from_env({"REDIS_URL": redis_url}))
    process.start()
    yield process
    process.stop()
    sys.setswitchinterval(before)


def test_lines_of_a_job_name_the_request_that_caused_it_and_what_it_is_about(telling, caplog):
    about.begin("a-request-1")
    telling._queue.drive("gam_broken")
    about.begin(None)
    assert telling.told.get(timeout=20) == {"request_id": "a-request-1", "game_id": "gam_broken"}
    telling._queue.drive("gam_1")
    assert telling.told.get(timeout=20) == {"game_id": "gam_1"}
