from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from service.launch import signals as signalling
from service.launch.signals import Signals


@pytest.fixture
def again():
    return []


@pytest.fixture
def in_the_foreground():
    """Have all signals heard, though the tests run under `nohup`, or in the background of a shell's script."""
    usual = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL, signal.SIGHUP: signal.SIG_DFL}
    before = {number: signal.signal(number, handler) for number, handler in usual.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def signals(again, in_the_foreground):
    with Signals(lambda: again.append(True)) as entered:
        yield entered


def send(number):
    os.kill(os.getpid(), number)


def test_nothing_is_asked_at_first(signals):
    assert not signals.stop
    signals.wait(0.0)
    assert not signals.stop


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_stop_is_noted_and_ends_the_wait(signals, number):
    threading.Timer(0.05, send, [number]).start()
    signals.wait(20)
    assert signals.stop
    signals.wait_for_stop()


def test_status_tells_an_interrupt_from_an_order(signals):
    send(signal.SIGINT)
    assert signals.status == 130


def test_status_of_an_order_is_success(signals):
    send(signal.SIGTERM)
    assert signals.status == 0


def test_signal_before_the_wait_is_not_lost(signals):
    send(signal.SIGTERM)
    began = time.monotonic()
    signals.wait(20)
    assert time.monotonic() - began < 5


def test_end_of_a_child_ends_the_wait(signals):
    began = time.monotonic()
    child = subprocess.Popen([sys.executable, "-c", ""])
    signals.wait(20)
    assert time.monotonic() - began < 15
    assert child.wait(timeout=5) == 0
    assert not signals.stop


def test_second_interrupt_is_for_who_has_no_time(signals, again, monkeypatch):
    monkeypatch.setattr(signalling, "TWICE_S", 0.0)
    send(signal.SIGINT)
    assert again == []
    send(signal.SIGINT)
    assert again == [True]


def test_signal_sent_twice_at_once_counts_once(signals, again):
    send(signal.SIGINT)
    send(signal.SIGINT)
    send(signal.SIGTERM)
    assert again == []


def test_handlers_are_given_back(again):
    before = [signal.getsignal(number) for number in (*signalling.STOPPING, signal.SIGCHLD)]
    with Signals(lambda: None):
        pass
    assert [signal.getsignal(number) for number in (*signalling.STOPPING, signal.SIGCHLD)] == before


def test_nohup_stays_nohup():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Signals(lambda: None) as signals:
            send(signal.SIGHUP)
            assert not signals.stop
    finally:
        signal.signal(signal.SIGHUP, before)
