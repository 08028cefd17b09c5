"""What waits for what, before it is asked: decisions for bots that take batches."""

from __future__ import annotations

from collections import Counter

import pytest

from bot_sdk.events import Outcome
from bot_sdk.messages import Decision, GameInfo
from service.outbound.values import Answer, Endpoint
from service.referee.asking import Asking
from service.referee.outbox import GATHER_S, Outbox

SECRETS = ("whsec_" + "A" * 32,)


class Sent:
    """A line that only keeps what is submitted."""

    def __init__(self):
        self.calls = []

    def submit(self, call):
        self.calls.append(call)

    @property
    def sizes(self):
        return [call.decisions for call in self.calls]


def asking(number, *, bot="bot_a", budget_ms=1_000, max_batch=4):
    game = GameInfo(f"gam_{number}", "river", {}, ["a", "b"])
    decision = Decision(
        decision_id=f"gam_{number}.0.0", budget_ms=budget_ms, last=None, game=game, seat=0, phase="bid",
        observation={}, legal_actions=["bid:0"],
    )  # fmt: skip
    return Asking(game.id, decision, Endpoint(bot, f"http://127.0.0.1:9/{bot}", SECRETS), max_batch)


@pytest.fixture
def line():
    return Sent()


@pytest.fixture
def outbox(line):
    return Outbox(line, "run")


def answered(outbox, call):
    return list(outbox.verdicts(Answer(call.key, Outcome.LATE, 1.0)))


def test_bot_that_takes_no_batches_is_asked_at_once(outbox, line):
    outbox.put([asking(1, max_batch=1), asking(2, max_batch=1)], now=0.0)
    assert line.sizes == [1, 1]


def test_batch_that_is_full_does_not_wait(outbox, line):
    outbox.put([asking(n) for n in range(9)], now=0.0)
    outbox.send(0.0, more_to_come=True)
    assert line.sizes == [4, 4]


def test_nothing_waits_when_nothing_is_worth_waiting_for(outbox, line):
    outbox.put([asking(n) for n in range(3)], now=0.0)
    outbox.send(0.0, more_to_come=False)
    assert line.sizes == [3]
    assert outbox.patience_s(0.0) == float("inf")


@pytest.mark.parametrize("more_to_come", [True, False])
def test_few_wait_a_moment_for_more_while_games_go_on_or_the_bot_is_asked_something(outbox, line, more_to_come):
    outbox.put([asking(0)], now=0.0)
    outbox.send(0.0, more_to_come=False)
    outbox.put([asking(1)], now=1.0)
    outbox.send(1.0, more_to_come=more_to_come)
    outbox.put([asking(2)], now=1.0 + GATHER_S / 2)
    outbox.send(1.0 + GATHER_S / 2, more_to_come=more_to_come)
    assert line.sizes == [1]
    assert outbox.patience_s(1.0 + GATHER_S / 2) == pytest.approx(GATHER_S / 2)
    outbox.send(1.0 + 2 * GATHER_S, more_to_come=more_to_come)  # since the first of them came
    assert line.sizes == [1, 2]


def test_few_go_out_when_the_bot_has_answered_what_it_was_asked(outbox, line):
    outbox.put([asking(0)], now=0.0)
    outbox.send(0.0, more_to_come=False)
    outbox.put([asking(1)], now=0.0)
    outbox.send(0.0, more_to_come=False)
    assert line.sizes == [1]
    assert len(answered(outbox, line.calls[0])) == 1
    outbox.send(0.0, more_to_come=False)
    assert line.sizes == [1, 1]


def test_call_to_another_bot_is_no_reason_to_wait(outbox, line):
    outbox.put([asking(0)], now=0.0)
    outbox.send(0.0, more_to_come=False)
    outbox.put([asking(1, bot="bot_b")], now=0.0)
    outbox.send(0.0, more_to_come=False)
    assert line.sizes == [1, 1]


def test_batch_holds_equal_budgets_only(outbox, line):
    outbox.put([asking(n, budget_ms=1_000 + n % 2) for n in range(6)], now=0.0)
    outbox.send(0.0, more_to_come=False)
    outbox.send(2 * GATHER_S, more_to_come=False)
    assert Counter(line.sizes) == {3: 2}
    assert {call.budget_ms for call in line.calls} == {1_000, 1_001}


def test_batch_is_no_larger_than_any_of_its_games_was_made_for(outbox, line):
    """A bot may come to take less; the games of before and after are asked apart."""
    outbox.put([asking(n, max_batch=8) for n in range(5)] + [asking(n, max_batch=2) for n in range(5, 8)], now=0.0)
    outbox.send(0.0, more_to_come=False)
    outbox.send(GATHER_S, more_to_come=False)
    assert sorted(line.sizes) == [1, 2, 5]


def test_nothing_is_kept_of_a_bot_that_has_answered(outbox, line):
    outbox.put([asking(n) for n in range(3)], now=0.0)
    outbox.send(0.0, more_to_come=False)
    answered(outbox, line.calls[0])
    assert (outbox._asked, outbox._groups, outbox._in_flight) == ({}, {}, {})


def test_each_batch_has_a_name_and_each_decision_its_own(outbox, line):
    outbox.put([asking(n) for n in range(8)] + [asking(9, max_batch=1)], now=0.0)
    outbox.send(0.0, more_to_come=False)
    names = [call.webhook_id for call in line.calls]
    assert len({call.key for call in line.calls}) == len(set(names)) == 3
    assert "msg_gam_9.0.0" in names


def test_answer_that_comes_twice_or_to_nothing_is_one_answer(outbox, line):
    outbox.put([asking(0)], now=0.0)
    outbox.send(0.0, more_to_come=False)
    assert outbox.is_waiting
    assert len(answered(outbox, line.calls[0])) == 1
    assert answered(outbox, line.calls[0]) == []
    assert not outbox.is_waiting
