"""Threads that are shared out fairly."""

from __future__ import annotations

import queue
import threading

import pytest

from service.outbound.openers import Openers


@pytest.fixture
def openers():
    made = Openers("test", threads=4, per_host=3, per_bot=2)
    yield made
    made.close(5)
    assert not running()


def running() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("test-")]


def test_no_thread_is_started_before_the_first_job(openers):
    assert not running()
    openers.put("host", "bot", lambda: None)
    assert len(running()) == 4


def test_a_host_that_takes_long_leaves_a_thread_to_the_others(openers):
    done, go = queue.SimpleQueue(), threading.Event()
    for number in range(9):
        openers.put("slow", f"bot {number % 3}", lambda: go.wait(5) and done.put("slow"))
    openers.put("elsewhere", "bot", lambda: done.put("elsewhere"))
    assert done.get(timeout=5) == "elsewhere"
    assert done.empty()
    go.set()
    assert {done.get(timeout=5) for _ in range(9)} == {"slow"}


def test_a_job_that_breaks_costs_no_thread_and_no_share(openers, caplog):
    done = queue.SimpleQueue()
    for _ in range(20):
        openers.put("host", "bot", lambda: 1 / 0)
    openers.put("host", "bot", lambda: done.put(1))
    assert done.get(timeout=5) == 1
    openers.close(5)
    assert [record.exc_info[0] for record in caplog.records] == [ZeroDivisionError] * 20


def test_once_closed_nothing_more_is_begun(openers):
    begun, go = queue.SimpleQueue(), threading.Event()
    for number in range(6):
        openers.put("host", "bot", lambda number=number: begun.put(number) or go.wait(5))
    assert {begun.get(timeout=5) for _ in range(2)} == {0, 1}
    openers.close(0)
    go.set()
    openers.close(5)
    openers.put("host", "bot", lambda: begun.put("late"))
    assert begun.empty()
