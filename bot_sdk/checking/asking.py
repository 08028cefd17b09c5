"""Asking a bot for decisions while it is checked: which ones, how often, and how long it took."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, islice
from typing import Any

import msgspec

from bot_sdk import messages
from bot_sdk.checking.faults import Fault, Finding
from bot_sdk.checking.judging import Judge, why
from bot_sdk.checking.values import Line, Sent
from bot_sdk.events import Outcome
from bot_sdk.games.registry import RULESETS
from bot_sdk.positions import positions


class Asker:
    """Asks for decisions, and keeps their times. `budgets` are those of the first decision and of all others, in ms."""

    def __init__(self, line: Line, secret: str | None, seed: str, judge: Judge, *, budgets: tuple[int, int]) -> None:
        self._line = line
        self._secret = secret
        self._seed = seed
        self._judge = judge
        self._first_budget_ms, self._budget_ms = budgets
        self._may_be_late = True
        self._forgiven: Finding | None = None
        self.first: messages.Decision | None = None
        """The first decision that was asked."""
        self.times: list[float] = []
        """How long each request took, in ms."""

    def decision(self, decision: messages.Decision) -> float:
        """Ask for one decision, the first with its longer budget; give the ms. Raises `Failed`."""
        budget_ms = self._budget_ms if self.first else self._first_budget_ms
        asked = msgspec.structs.replace(decision, budget_ms=budget_ms)
        self.first = self.first or asked
        sent = self.send(asked, [asked])
        self._judge.action(asked, sent)
        return sent.ms

    def send(self, message: Any, decisions: Sequence[messages.Decision]) -> Sent:
        """Send a message that asks for these decisions.

        Being late once in a check is forgiven, and asked again: `forgiven` tells of it.
        """
        body, budget_ms = messages.encode(message), decisions[0].budget_ms
        sent = self._line.post(body, budget_ms, self._secret, decisions=len(decisions))
        self.times.append(sent.ms)
        if sent.outcome is Outcome.LATE and self._may_be_late:
            self._may_be_late = False
            fault = Fault.SLOW if len(self.times) > 1 else Fault.COLD_START
            self._forgiven = self._judge.seen(
                Finding(fault, f"{why(sent)}; asked again it was in time"), decisions, sent
            )
            sent = self._line.post(body, budget_ms, self._secret, decisions=len(decisions))
        return sent

    def forgiven(self) -> Finding | None:
        """Tell what has been forgiven since this was last asked."""
        forgiven, self._forgiven = self._forgiven, None
        return forgiven

    def several(self, ruleset: str, phase: str, number: int) -> list[messages.Decision]:
        """Reach several decisions of one phase."""
        return positions(ruleset, phase, number, f"{self._seed}/{ruleset}")

    def one_of_each(self, rulesets: Sequence[str], purpose: str) -> list[messages.Decision]:
        """Reach a decision of every phase, other ones for each purpose."""
        kinds = [(name, phase) for name in rulesets for phase in RULESETS[name].phases]
        return [
            msgspec.structs.replace(decision, budget_ms=self._budget_ms)
            for at, (name, phase) in enumerate(kinds)
            for decision in positions(name, phase, 1, f"{self._seed}/{purpose}{at}")
        ]


def as_of_many_games(decisions: Sequence[messages.Decision], number: int) -> list[messages.Decision]:
    """Make so many of a few decisions, as if each stood in a game of its own."""
    made = []
    for at, decision in enumerate(islice(cycle(decisions), number)):
        game = msgspec.structs.replace(decision.game, id=f"check-many-{at}")
        name = messages.decision_id(game.id, decision.seat, 1)
        made.append(msgspec.structs.replace(decision, game=game, decision_id=name))
    return made
