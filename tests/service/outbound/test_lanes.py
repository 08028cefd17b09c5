"""Threads that are shared out fairly."""

from __future__ import annotations

import queue
import threading

import pytest

from service.outbound.lanes import Lane


@pytest.fixture
def lane():
    made = Lane("test", threads=4, share=2)
    yield made
    made.close(5)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("test-")]


def test_no_thread_is_started_before_the_first_job(lane):
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("test-")]


def test_jobs_of_one_group_leave_threads_to_others(lane):
    go, started, done = threading.Event(), queue.SimpleQueue(), queue.SimpleQueue()

    def slow():
        started.put(1)
        go.wait(5)
        done.put("slow")

    for _ in range(10):
        lane.put("slow", slow)
    for _ in range(2):
        started.get(timeout=5)
    lane.put("fast", lambda: done.put("fast"))
    assert done.get(timeout=5) == "fast"
    assert started.empty()
    assert lane.waiting == 8
    go.set()
    assert [done.get(timeout=5) for _ in range(10)] == ["slow"] * 10
    assert lane.waiting == 0


def test_jobs_of_a_group_keep_their_order(lane):
    done = queue.SimpleQueue()
    single = Lane("single", threads=1, share=1)
    for number in range(50):
        single.put("group", lambda number=number: done.put(number))
    assert [done.get(timeout=5) for _ in range(50)] == list(range(50))
    single.close(5)


def test_a_job_that_breaks_costs_no_thread_and_no_share(lane, caplog):
    done = queue.SimpleQueue()
    for _ in range(20):
        lane.put("group", lambda: 1 / 0)
    lane.put("group", lambda: done.put(1))
    assert done.get(timeout=5) == 1
    lane.close(5)
    assert [record.exc_info[0] for record in caplog.records] == [ZeroDivisionError] * 20


def test_closing_does_what_waits_and_later_jobs_are_the_callers():
    lane, done, go = Lane("closing", threads=2, share=1), queue.SimpleQueue(), threading.Event()
    lane.put("group", lambda: go.wait(5) and done.put(threading.current_thread().name))
    for _ in range(5):
        lane.put("group", lambda: done.put(threading.current_thread().name))
    threading.Timer(0.05, go.set).start()
    lane.close(5)
    assert {done.get(timeout=1) for _ in range(6)} <= {"closing-0", "closing-1"}
    lane.put("group", lambda: done.put(threading.current_thread().name))
    assert done.get(timeout=1) == threading.current_thread().name
