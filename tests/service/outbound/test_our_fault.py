"""What this process does to a call is never the bot's fault, and no bot can make it look so."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from service.outbound.connection import Connection
from service.outbound.exchange import Exchange
from service.outbound.guard import LOOPBACK, Guard
from service.outbound.pool import Pool
from service.outbound.values import Call, Endpoint
from tests.service.outbound.hostile import call_to, gather, reply


class Clock:
    """The monotonic clock, which jumps when told to."""

    ahead = 0.0

    def __call__(self) -> float:
        return time.monotonic() + self.ahead


@pytest.fixture
def post(make):
    """Post a call by a clock."""
    return lambda clock, call: make(Guard(LOOPBACK), clock=clock).ask(call)


@pytest.fixture
def post_late(post, monkeypatch):
    """Post a call that is kept waiting for so long once its budget has begun."""

    def late(lag: float, call: Call):
        clock, take = Clock(), Pool.take

        def stall_and_take(pool, url):
            clock.ahead += lag
            return take(pool, url)

        monkeypatch.setattr(Pool, "take", stall_and_take)
        return post(clock, call)

    return late


@pytest.mark.parametrize("what", [reply(), reply(status="500 Oops"), b""], ids=["answered", "500", "closed"])
def test_a_call_that_ends_long_after_its_deadline_says_nothing_about_the_bot(serve, post, what):
    clock = Clock()

    def behave(connection, _):
        clock.ahead = 2.0
        connection.sendall(what)

    answer = post(clock, call_to(serve(behave).url, budget_ms=1_000))
    assert (answer.outcome, answer.body, answer.error) == ("our_fault", None, "the arena stalled")
    assert answer.ms >= 2_000


def test_an_answer_just_at_the_deadline_is_taken(serve, post):
    clock = Clock()

    def behave(connection, _):
        clock.ahead = 0.95
        connection.sendall(reply())

    assert post(clock, call_to(serve(behave).url, budget_ms=1_000)).outcome == "ok"


@pytest.mark.parametrize(
    ("lag", "budget_ms", "outcome"),
    [(0.3, 800, "our_fault"), (0.9, 800, "our_fault"), (0.05, 100, "our_fault"), (0.05, 400, "late")],
)
def test_a_bot_that_was_asked_late_is_not_late(serve, post_late, lag, budget_ms, outcome):
    silent = serve(lambda *_: silent.stopping.wait(10))
    assert post_late(lag, call_to(silent.url, budget_ms=budget_ms)).outcome == outcome


def test_a_bot_that_was_asked_late_and_answers_is_ok(serve, post_late):
    assert post_late(0.5, call_to(serve(reply()).url, budget_ms=1_000)).outcome == "ok"


@pytest.mark.parametrize(("stall_s", "outcome"), [(0.08, "our_fault"), (0.0, "late")])
def test_a_bot_whose_request_left_late_on_a_kept_connection_is_not_late(serve, make, monkeypatch, stall_s, outcome):
    clock, send = Clock(), Connection.send

    def send_and_stall(connection, data, deadline):
        yield from send(connection, data, deadline)
        clock.ahead += stall_s

    server, calls = serve(reply()), make(Guard(LOOPBACK), clock=clock)
    assert calls.ask(call_to(server.url)).outcome == "ok"
    server.behave = lambda *_: server.stopping.wait(10)
    monkeypatch.setattr(Connection, "send", send_and_stall)
    assert calls.ask(call_to(server.url, budget_ms=300)).outcome == outcome


@pytest.mark.parametrize(("stall_s", "outcome"), [(0.08, "our_fault"), (0.0, "late")])
def test_a_bot_whose_request_left_late_on_a_fresh_connection_is_not_late(serve, post, monkeypatch, stall_s, outcome):
    clock, connect = Clock(), Exchange.open

    def open_and_stall(exchange):
        connect(exchange)
        clock.ahead += stall_s

    silent = serve(lambda *_: silent.stopping.wait(10))
    monkeypatch.setattr(Exchange, "open", open_and_stall)
    assert post(clock, call_to(silent.url, budget_ms=300)).outcome == outcome


def test_a_bot_that_is_slow_to_take_its_request_is_late(serve, make):
    def behave(connection, _):
        if len(server.requests) > 1:
            return server.stopping.wait(10)
        connection.sendall(reply())
        server.stopping.wait(0.3)
        return True

    server, calls = serve(behave), make(Guard(LOOPBACK))
    assert calls.ask(call_to(server.url)).outcome == "ok"
    assert calls.ask(call_to(server.url, budget_ms=800, body=b"x" * 16_000_000)).outcome == "late"


def test_a_bug_of_ours_is_ours(serve, calls, monkeypatch, caplog):
    def broken(*_args, **_options):
        raise KeyError("a bug")

    monkeypatch.setattr(Exchange, "_exchange", broken)
    answer = calls.ask(call_to(serve(reply()).url))
    assert (answer.outcome, answer.error) == ("our_fault", "the arena broke: KeyError")
    assert "a bug" in caplog.text
    assert not calls._exchanges._pool._busy


def test_a_secret_that_is_none_is_ours_and_stays_out_of_sight(serve, calls, caplog):
    server = serve(reply())
    answer = calls.ask(Call(1, Endpoint("bot_1", server.url, ("whsec_geheim",)), b"{}", 1_000, "m"))
    assert answer.outcome == "our_fault"
    assert "geheim" not in caplog.text + repr(answer)
    assert not server.requests


STOPPED = """
import sys
from service.outbound.calls import Calls
from service.outbound.guard import LOOPBACK, Guard
from service.outbound.pool import Pool
from tests.service.outbound.hostile import call_to
url, driver = sys.argv[1:]
calls, call = Calls(Guard(LOOPBACK)), call_to(url, budget_ms=500)
if driver == "here":
    answer = calls.ask(call)
else:
    line = calls.line()
    line.submit(call)
    [answer] = line.wait(10)
print(answer.outcome)
"""


@pytest.mark.parametrize("driver", ["here", "line"])
@pytest.mark.parametrize(("stopped_s", "outcome"), [(1.2, "our_fault"), (0.1, "late")])
def test_a_process_that_was_stopped_charges_nobody_for_it(serve, stopped_s, outcome, driver):
    asked = threading.Event()
    silent = serve(lambda *_: asked.set() or silent.stopping.wait(10))
    command = [sys.executable, "-c", STOPPED, silent.url, driver]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert asked.wait(10)
        os.kill(process.pid, signal.SIGSTOP)
        time.sleep(stopped_s)  # the stall itself
        os.kill(process.pid, signal.SIGCONT)
        assert process.communicate(timeout=10)[0].strip() == outcome
    finally:
        process.kill()
        process.wait()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells when data came")
@pytest.mark.parametrize(("answers_after_s", "outcome"), [(0.0, "ok"), (0.45, "our_fault")])
def test_an_answer_that_came_while_nobody_looked_took_as_long_as_it_took(serve, make, answers_after_s, outcome):
    asked, unwatched, answered = threading.Event(), threading.Event(), threading.Event()

    def behave(connection, _):
        asked.set()
        unwatched.wait(10)
        server.stopping.wait(answers_after_s)
        connection.sendall(reply())
        answered.set()
        return True

    server = serve(behave)
    line = make(Guard(LOOPBACK)).line()
    line.submit(call_to(server.url, budget_ms=300))
    while not asked.is_set():
        assert line.wait(0.01) == []
    unwatched.set()
    assert answered.wait(10)
    time.sleep(0.7)  # longer than the budget, and than what counts as a stall
    [answer] = line.wait(10)
    assert answer.outcome == outcome
    assert (answer.ms < 300) == (outcome == "ok")
    line.close()


def unattended(line, seen: threading.Event, stall_s: float):
    """Look after a line until something is seen, be elsewhere for so long, and give the one answer."""
    while not seen.is_set():
        assert line.wait(0.01) == []
    time.sleep(stall_s)  # the stall itself
    [answer] = gather(line, 1)
    line.close()
    return answer


@pytest.mark.parametrize(("stall_s", "is_unattended"), [(0.8, True), (0.1, False)])
def test_a_stall_of_the_thread_that_asks_is_told_from_other_faults(serve, make, stall_s, is_unattended):
    asked = threading.Event()
    silent = serve(lambda *_: asked.set() or silent.stopping.wait(10))
    line = make(Guard(LOOPBACK)).line()
    line.submit(call_to(silent.url, budget_ms=300))
    answer = unattended(line, asked, stall_s)
    assert (answer.outcome, answer.is_unattended) == ("our_fault" if is_unattended else "late", is_unattended)


def test_a_bot_that_waits_for_the_rest_of_its_request_while_nobody_looked_has_its_whole_time(serve, make):
    size, begun = 8_000_000, threading.Event()

    def behave(connection, _):
        begun.set()
        got = 0
        while got < size and (data := connection.recv(65536)):
            got += len(data)
        connection.sendall(reply())
        server.stopping.wait(10)

    server = serve(behave, reads=False)
    line = make(Guard(LOOPBACK)).line()
    line.submit(call_to(server.url, budget_ms=1_000, body=b"x" * size))
    answer = unattended(line, begun, 1.1)
    assert (answer.outcome, answer.ms < 1_000) == ("ok", True)


def test_a_bot_that_takes_no_request_is_late_though_nobody_looked_for_a_while(serve, make):
    begun = threading.Event()
    silent = serve(lambda *_: begun.set() or silent.stopping.wait(10), reads=False)
    line = make(Guard(LOOPBACK)).line()
    line.submit(call_to(silent.url, budget_ms=300, body=b"x" * 16_000_000))
    assert unattended(line, begun, 0.2).outcome == "late"


def test_a_connection_that_was_open_while_nobody_looked_has_cost_no_time(serve, make):
    silent = serve(lambda *_: silent.stopping.wait(10))
    line = make(Guard(LOOPBACK)).line()
    line.submit(call_to(silent.url, budget_ms=100))
    line.wait(0)
    while not line._opened:
        time.sleep(0.001)
    time.sleep(0.2)
    [answer] = gather(line, 1)
    line.close()
    assert (answer.outcome, answer.ms < 200) == ("late", True)
