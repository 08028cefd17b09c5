"""Threads that are shared out fairly."""

from __future__ import annotations

import queue
import threading

import pytest

from service.outbound.lanes import Lane


@pytest.fixture
def lane():
    made = Lane("test", threads=4, per_host=3, per_bot=2)
    yield made
    made.close(5)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("test-")]


class Gate:
    """Jobs that say when they start, and end when they are told."""

    def __init__(self) -> None:
        self.started: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._go: dict[str, threading.Event] = {}

    def job(self, name: str):
        self._go[name] = threading.Event()

        def wait() -> None:
            self.started.put(name)
            assert self._go[name].wait(5)

        return wait

    def starts(self, number: int) -> list[str]:
        return sorted(self.started.get(timeout=5) for _ in range(number))

    def end(self, *names: str) -> None:
        for name in names or self._go:
            self._go[name].set()


@pytest.fixture
def gate():
    return Gate()


def test_no_thread_is_started_before_the_first_job(lane):
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("test-")]


def test_jobs_of_one_bot_leave_threads_to_the_others_of_its_host(lane, gate):
    for number in range(10):
        lane.put("host", "slow", gate.job(f"slow {number}"))
    assert gate.starts(2) == ["slow 0", "slow 1"]
    lane.put("host", "fast", gate.job("fast"))
    assert gate.starts(1) == ["fast"]
    assert gate.started.empty()
    assert lane.waiting == 8
    gate.end()
    assert gate.starts(8) == [f"slow {number}" for number in range(2, 10)]
    assert lane.waiting == 0


def test_bots_of_one_host_leave_a_thread_to_other_hosts(lane, gate):
    for number in range(12):
        lane.put("host", f"bot {number % 6}", gate.job(f"there {number}"))
    assert gate.starts(3) == ["there 0", "there 1", "there 2"]
    lane.put("elsewhere", "bot", gate.job("elsewhere"))
    assert gate.starts(1) == ["elsewhere"]
    gate.end("elsewhere")
    assert gate.started.empty()
    assert lane.waiting == 9
    assert (lane.held("host"), lane.held("elsewhere")) == (9, 0)
    gate.end()
    gate.starts(9)


def test_bots_of_one_host_take_turns(lane, gate):
    for name in ["z0", "y0", "x0", "a0", "a1", "a2", "b0", "b1", "c0"]:
        lane.put("host", name[0], gate.job(name))
    assert gate.starts(3) == ["x0", "y0", "z0"]
    turns = []
    for ending in ["z0", "a0", "b0", "c0", "a1", "b1"]:
        gate.end(ending)
        turns += gate.starts(1)
    assert turns == ["a0", "b0", "c0", "a1", "b1", "a2"]
    gate.end()


def test_a_bot_with_its_share_is_passed_over_and_keeps_its_turn(lane, gate):
    for name in ["a0", "a1", "b0", "a2", "a3", "c0", "c1"]:
        lane.put("host", name[0], gate.job(name))
    assert gate.starts(3) == ["a0", "a1", "b0"]
    gate.end("b0")
    assert gate.starts(1) == ["c0"]
    gate.end("a0")
    assert gate.starts(1) == ["a2"]
    gate.end("c0")
    assert gate.starts(1) == ["c1"]
    gate.end()
    assert gate.starts(1) == ["a3"]


def test_jobs_of_a_bot_keep_their_order(gate):
    done = queue.SimpleQueue()
    single = Lane("single", threads=1, per_host=1, per_bot=1)
    for number in range(50):
        single.put("host", "bot", lambda number=number: done.put(number))
    assert [done.get(timeout=5) for _ in range(50)] == list(range(50))
    single.close(5)


def test_a_host_is_forgotten_when_nothing_of_it_is_left(lane):
    done = queue.SimpleQueue()
    for number in range(200):
        lane.put(f"host {number % 20}", f"bot {number % 40}", lambda: done.put(1))
    for _ in range(200):
        done.get(timeout=5)
    lane.close(5)
    assert not lane._hosts


def test_a_job_that_breaks_costs_no_thread_and_no_share(lane, caplog):
    done = queue.SimpleQueue()
    for _ in range(20):
        lane.put("host", "bot", lambda: 1 / 0)
    lane.put("host", "bot", lambda: done.put(1))
    assert done.get(timeout=5) == 1
    lane.close(5)
    assert [record.exc_info[0] for record in caplog.records] == [ZeroDivisionError] * 20


def test_closing_does_what_waits_and_later_jobs_are_the_callers():
    lane, done, go = Lane("closing", threads=2, per_host=1, per_bot=1), queue.SimpleQueue(), threading.Event()
    lane.put("host", "bot", lambda: go.wait(5) and done.put(threading.current_thread().name))
    for number in range(5):
        lane.put("host", f"bot {number}", lambda: done.put(threading.current_thread().name))
    threading.Timer(0.05, go.set).start()
    lane.close(5)
    assert {done.get(timeout=1) for _ in range(6)} <= {"closing-0", "closing-1"}
    lane.put("host", "bot", lambda: done.put(threading.current_thread().name))
    assert done.get(timeout=1) == threading.current_thread().name
