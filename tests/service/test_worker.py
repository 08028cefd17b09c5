"""The worker process as a whole: what its parts do at its end."""

from __future__ import annotations

import threading

import pytest

from service.config import Settings
from service.worker import WorkerProcess


class Stopping:
    """A Dramatiq worker whose stop takes until the other's has begun, too."""

    def __init__(self, both: threading.Barrier) -> None:
        self._both = both
        self.is_stopped = False

    def stop(self, timeout):
        self._both.wait(timeout=timeout / 1000)
        self.is_stopped = True


@pytest.fixture
def process(redis_url):
    return WorkerProcess(Settings.from_env({"REDIS_URL": redis_url}))


def test_both_queues_stop_being_served_at_once(process):
    """Else the one still served would take up again, for seconds, the games just handed back."""
    both = threading.Barrier(2)
    process._workers = [Stopping(both), Stopping(both)]
    process.stop()
    assert [worker.is_stopped for worker in process._workers] == [True, True]
