"""Many at once: what fails a bot, and what is no more than a warning."""

from __future__ import annotations

import threading
import time
from email.message import Message

import pytest

from bot_sdk import messages
from bot_sdk.checking.caller import Asked
from bot_sdk.checking.crowd import AT_ONCE, Crowd
from bot_sdk.checking.judging import Judge
from bot_sdk.checking.wire import Got
from bot_sdk.positions import positions

DECISIONS = positions("river", "bid", 5, "crowd")
JSON = Message()
JSON["Content-Type"] = "application/json"


class Busy:
    """Questions to a bot that has room for so many connections; the others get `refusal`. Each answer takes `ms`."""

    clock = staticmethod(time.monotonic)

    def __init__(self, room, refusal=503, ms=0.0):
        self.room, self.refusal, self.ms = room, refusal, ms
        self.open, self.most = 0, 0
        self.lock = threading.Lock()
        self.caller = self

    def decision(self, at):
        return DECISIONS[at % len(DECISIONS)]

    def request(self, at):
        return Asked("POST", {}, str(at).encode(), 1000)

    def connect(self, _timeout_s):
        with self.lock:
            self.open += 1
            self.most = max(self.most, self.open)
            return Connection(self, is_let_in=self.open <= self.room)


class Connection:
    def __init__(self, questions, *, is_let_in):
        self.questions, self.is_let_in, self.is_closed = questions, is_let_in, False

    def close(self):
        with self.questions.lock:
            self.questions.open -= not self.is_closed
            self.is_closed = True

    def ask(self, _method, _headers, body, _until, _limit):
        time.sleep(self.questions.ms / 1000)
        refusal = self.questions.refusal
        if not self.is_let_in and not isinstance(refusal, int):
            raise refusal
        decision = self.questions.decision(int(body))
        answer = messages.ActionReply(decision_id=decision.decision_id, action=decision.legal_actions[0])
        return Got(200 if self.is_let_in else refusal, 11, JSON, messages.encode(answer), 0.0, 0.0, may_go_on=True)


def tried(busy, budget_ms=10_000):
    crowd = Crowd(busy, Judge(), max_games=8, budget_ms=budget_ms)
    step = crowd.at_once(1000.0)
    assert busy.open == 0, "a connection was left open"
    return step


def test_fifty_are_asked_at_once_each_on_a_connection_of_its_own():
    busy = Busy(AT_ONCE)
    step = tried(busy)
    assert (step.ok, step.warning, busy.most) == (True, False, 50)
    assert "all answered" in step.detail


@pytest.mark.parametrize("refusal", [503, 429, ConnectionRefusedError(), ConnectionResetError(), TimeoutError()])
def test_too_many_for_a_bot_that_has_room_for_its_games_is_a_warning(refusal):
    step = tried(Busy(20, refusal))
    assert (step.ok, step.warning, step.fault) == (True, True, "overloaded")
    assert "30 of 50 at once failed" in step.detail
    assert "8 at once, as its max_games, were answered" in step.detail


@pytest.mark.parametrize("refusal", [503, ConnectionRefusedError()])
def test_refusing_as_many_as_the_card_says_fails(refusal):
    step = tried(Busy(5, refusal))
    assert (step.ok, step.fault, step.where) == (False, "overloaded", "the field max_games of the card")
    assert "3 of 8 at once" in step.detail


def test_being_late_to_as_many_as_the_card_says_is_a_warning_since_machines_differ():
    step = tried(Busy(5, TimeoutError()))
    assert (step.ok, step.warning, step.fault) == (True, True, "overloaded")


def test_an_error_of_the_bots_own_is_no_overload():
    step = tried(Busy(20, 500))
    assert (step.ok, step.fault) == (False, "raised")
    assert step.detail.startswith("asked 50 at once")


def test_slower_than_the_budget_is_a_warning():
    step = tried(Busy(50, ms=30), budget_ms=10)
    assert (step.ok, step.warning, step.fault) == (True, True, "overloaded")
