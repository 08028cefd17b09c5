"""Fakes of what lies beyond the referee and the use cases: bots that answer by script, a queue, a clock."""

from __future__ import annotations

import contextlib
import json
import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic, sleep
from typing import Any

from bot_sdk.events import Outcome
from bot_sdk.results.values import Result
from service.outbound.values import Answer, Call
from service.store.entities import Tournament

Decision = dict[str, Any]
Behaviour = Callable[[Decision], Any]

HOLD = object()
"""Answer nothing until `let_go`."""
MISSING = object()
"""Leave this decision out of the answer to a batch."""

HEAD = b"<h1>not what you asked for"


@dataclass(frozen=True)
class Status:
    """Answer with this status, which isn't 200."""

    code: int


@dataclass(frozen=True)
class Twice:
    """Answer a decision of a batch twice."""

    action: str


def first_legal(decision: Decision) -> str:
    return decision["legal_actions"][0]


def standing(decision: Decision) -> str:
    """Stand, bid the most, play the highest card."""
    return "stand" if "stand" in decision["legal_actions"] else decision["legal_actions"][-1]


def fails(outcome: Outcome) -> Behaviour:
    """Make a bot that never answers well."""
    return lambda _decision: outcome


def until(is_so: Callable[[], bool], timeout_s: float = 30.0) -> None:
    """Return once it is so."""
    ends = monotonic() + timeout_s
    while not is_so():
        assert monotonic() < ends, "it never came to that"
        sleep(0.002)


class FakeCalls:
    """Calls that bots answer by script, in the thread that asks, at no time's cost.

    A bot's behaviour gives for each decision an action, an `Outcome` other than ok, the bytes of a whole body, HOLD, or
    within a batch MISSING or `Twice`. What isn't an action or within a batch stands for the whole call.
    """

    def __init__(self, ms: float = 1.0):
        self.ms = ms
        self.bots: dict[str, Behaviour] = {}
        self.calls: list[Call] = []
        self.asked: list[Decision] = []
        self.told: list[tuple[str, dict[str, Any]]] = []
        self._held: list[tuple[Call, Callable[[Answer], None]]] = []
        self._holding = threading.Event()

    def line(self) -> FakeLine:
        return FakeLine(self)

    def submit(self, call: Call, done: Callable[[Answer], None]) -> None:
        message = json.loads(call.body)
        decisions = message.get("decisions", [message])
        self.calls.append(call)
        self.asked += decisions
        behave = self.bots.get(call.endpoint.bot_id, first_legal)
        said = [behave(decision) for decision in decisions]
        if HOLD in said:
            self._held.append((call, done))
            self._holding.set()
            return
        whole = next((each for each in said if isinstance(each, Outcome | bytes | Status)), None)
        done(self._answer(call, whole if whole is not None else _body(message, said)))

    def notify(self, call: Call) -> None:
        self.told.append((call.endpoint.bot_id, json.loads(call.body)))

    def wait_until_held(self, timeout_s: float = 30.0) -> None:
        """Return once a call is held."""
        assert self._holding.wait(timeout_s), "no call was held"

    def let_go(self, said: Any = None) -> None:
        """Answer all calls held: with the first legal actions, or as `said`."""
        self._holding.clear()
        held, self._held = self._held, []
        for call, done in held:
            message = json.loads(call.body)
            actions = [said or first_legal(decision) for decision in message.get("decisions", [message])]
            done(self._answer(call, said if isinstance(said, Outcome | bytes) else _body(message, actions)))

    def decisions_of(self, bot_id: str) -> list[Decision]:
        """List what a bot has been asked."""
        return [
            decision
            for call in self.calls
            if call.endpoint.bot_id == bot_id
            for decision in json.loads(call.body).get("decisions", [json.loads(call.body)])
        ]

    def _answer(self, call: Call, said: Outcome | bytes | Status) -> Answer:
        if isinstance(said, Status):
            detail = f"expected 200, got {said.code}"
            return Answer(call.key, Outcome.BAD_STATUS, self.ms, detail, said.code, HEAD)
        if isinstance(said, bytes):
            return Answer(call.key, Outcome.OK, self.ms, None, 200, b"", said)
        if said is Outcome.LATE:
            return Answer(call.key, said, call.budget_ms, "waited for the first byte")
        if said is Outcome.BAD_STATUS:
            return Answer(call.key, said, self.ms, "expected 200, got 500", 500, HEAD)
        return Answer(call.key, said, self.ms, f"it was {said.value}")


class FakeLine:
    """A line of one run; calls are answered as they are submitted, the answers wait for `wait`."""

    def __init__(self, calls: FakeCalls):
        self._calls = calls
        self.answers: queue.SimpleQueue[Answer | None] = queue.SimpleQueue()

    def submit(self, call: Call) -> None:
        self._calls.submit(call, self.answers.put)

    def wait(self, timeout_s: float) -> list[Answer]:
        found: list[Answer | None] = []
        with contextlib.suppress(queue.Empty):  # there are no more
            found.append(self.answers.get(block=timeout_s > 0, timeout=timeout_s))
            while True:
                found.append(self.answers.get_nowait())
        return [answer for answer in found if answer is not None]

    def wake(self) -> None:
        self.answers.put(None)

    def close(self) -> None:
        pass


def _body(message: dict[str, Any], said: list[Any]) -> bytes:
    items = []
    for decision, each in zip(message.get("decisions", [message]), said, strict=True):
        action = each.action if isinstance(each, Twice) else each
        item = {"decision_id": decision["decision_id"], "action": action}
        items += [] if each is MISSING else [item] * (2 if isinstance(each, Twice) else 1)
    return json.dumps({"actions": items} if "decisions" in message else items[0]).encode()


class HeldQueue:
    """Keeps what is enqueued."""

    def __init__(self):
        self.checks: list[str] = []
        self.driven: list[str] = []
        self.shards: list[list[str]] = []
        self.fits: list[str] = []
        self.erasures: list[str] = []

    def check(self, check_id: str) -> None:
        self.checks.append(check_id)

    def drive(self, game_id: str) -> None:
        self.driven.append(game_id)

    def drive_shard(self, game_ids: list[str]) -> None:
        self.shards.append(list(game_ids))

    def fit(self, ruleset: str) -> None:
        self.fits.append(ruleset)

    def fit_tournament(self, tournament_id: str) -> None:
        self.fits.append(tournament_id)

    def erase(self, account_id: str) -> None:
        self.erasures.append(account_id)


class Clock:
    """Unix time in milliseconds that moves when it is told to."""

    def __init__(self, now: int):
        self.now = now

    def __call__(self) -> int:
        return self.now

    def forward(self, ms: int) -> None:
        self.now += ms


class HeldResults:
    """Ratings that only remember which results they were given, by board."""

    def __init__(self):
        self.by_board: dict[str, list[Result]] = {}

    def take(self, tournament: Tournament, results: Sequence[Result]) -> None:
        for result in results:
            self.by_board.setdefault(result.slot.board, []).append(result)
