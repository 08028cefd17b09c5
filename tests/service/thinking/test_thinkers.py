"""The pool, with real processes that are really stopped and killed."""

from __future__ import annotations

import os
import signal

import msgspec
import pytest

from bot_sdk.bots import house
from bot_sdk.messages import ActionReply
from service.thinking import thinkers
from service.thinking.process import Process
from tests.service.fakes import until
from tests.service.thinking.asked import DECISIONS, KEY, is_alive


def test_a_bot_decides_as_it_would_here(make_pool):
    asked = make_pool()
    for at, decision in enumerate(DECISIONS):
        for bot in ("house:random", "house:greedy"):
            thought = asked.ask(bot=bot, at=at)
            assert msgspec.json.decode(thought.reply, type=ActionReply) == house(bot).answer(decision, KEY)


def test_no_process_is_there_before_there_is_work_and_no_more_than_are_allowed(make_pool):
    asked = make_pool(size=2)
    assert asked.pool.pids() == []
    asked.ask()
    assert len(asked.pool.pids()) == 1
    for _ in range(12):
        asked.put()
    assert all(not asked.hear()[1].error for _ in range(12))
    assert len(asked.pool.pids()) == 2


def test_a_bot_that_raises_is_told_of_and_its_process_goes_on(make_pool):
    asked = make_pool()
    asked.ask()
    pid = asked.pid
    assert asked.ask(bot="house:nobody").error == "house:nobody broke: NoSuchBot"
    assert asked.ask().reply
    assert asked.pid == pid


def test_a_process_that_is_killed_while_it_thinks_is_heard_of_at_once_and_replaced(make_pool):
    asked = make_pool(least_s=600.0)
    asked.ask()
    pid = asked.pid
    os.kill(pid, signal.SIGSTOP)  # so that it is sure to be amid the decision
    asked.put()
    until(lambda: not asked.pool._waiting)
    os.kill(pid, signal.SIGKILL)
    assert asked.hear()[1].error.startswith("house:greedy broke: ")
    assert asked.ask().reply
    assert asked.pid != pid


def test_a_process_that_is_killed_while_it_idles_is_replaced(make_pool):
    asked = make_pool()
    asked.ask()
    pid = asked.pid
    os.kill(pid, signal.SIGKILL)
    until(lambda: not is_alive(pid))
    assert asked.ask().reply
    assert asked.pid != pid


def test_a_process_that_hangs_is_killed_at_the_deadline_and_replaced(make_pool):
    asked = make_pool(least_s=0.2)
    asked.ask(budget_s=60.0)
    pid = asked.pid
    os.kill(pid, signal.SIGSTOP)
    assert "within 0.3 s" in asked.ask(budget_s=0.3).error
    assert not is_alive(pid)
    assert asked.ask(budget_s=60.0).reply


def test_a_budget_of_milliseconds_is_no_reason_to_kill(make_pool):
    asked = make_pool()
    asked.ask()
    pid = asked.pid
    os.kill(pid, signal.SIGSTOP)
    asked.put(budget_s=0.001)
    until(lambda: not asked.pool._waiting)
    os.kill(pid, signal.SIGCONT)
    assert asked.hear()[1].reply
    assert asked.pid == pid


def test_owners_are_served_in_turn(make_pool):
    asked = make_pool()
    asked.ask()
    os.kill(asked.pid, signal.SIGSTOP)
    asked.put("first", owner="tournaments")
    until(lambda: not asked.pool._waiting)
    for name in ("second", "third", "fourth"):
        asked.put(name, owner="tournaments")
    asked.put("a person's", owner="people")
    os.kill(asked.pid, signal.SIGCONT)
    assert [asked.hear()[0] for _ in range(5)] == ["first", "second", "a person's", "third", "fourth"]


def test_what_an_owner_waits_for_is_dropped_when_it_is_gone(make_pool):
    asked = make_pool()
    asked.ask()
    os.kill(asked.pid, signal.SIGSTOP)
    asked.put("begun")
    until(lambda: not asked.pool._waiting)
    asked.put("dropped")
    asked.put("another's", owner="another")
    asked.pool.forget("run")
    os.kill(asked.pid, signal.SIGCONT)
    assert [asked.hear()[0] for _ in range(2)] == ["begun", "another's"]
    assert asked.heard.empty()


def test_closing_ends_processes_amid_their_thoughts(make_pool):
    asked = make_pool(size=2)
    for _ in range(4):
        asked.put()
    for _ in range(4):
        asked.hear()
    pids = asked.pool.pids()
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    for _ in range(3):
        asked.put()
    until(lambda: len(asked.pool._waiting.get("run", ())) <= 1)
    asked.pool.close(30.0)
    assert not any(thread.is_alive() for thread in asked.pool._threads)
    assert not any(map(is_alive, pids))
    assert asked.pool.pids() == []
    asked.put()
    assert asked.pool.pids() == []


@pytest.mark.parametrize("command", [("-c", "raise SystemExit(3)"), ("-c", "print('hello')"), ("-m", "no.such")])
def test_where_no_process_can_be_started_every_decision_is_told_so(make_pool, monkeypatch, command):
    monkeypatch.setattr(thinkers, "PAUSE_S", 0.01)
    asked = make_pool(process=lambda: Process(command))
    for _ in range(2):
        assert asked.ask().error.startswith("no process for house:greedy: ")
    assert asked.pool.pids() == []
