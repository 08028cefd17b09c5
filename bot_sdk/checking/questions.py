"""The decisions that a bot is asked while it is tried how it serves, over connections of the asker's choice."""

from __future__ import annotations

from collections.abc import Sequence

from bot_sdk import messages
from bot_sdk.checking import faults
from bot_sdk.checking.caller import Asked, Caller, Heard, broken
from bot_sdk.checking.judging import why
from bot_sdk.checking.values import Failed, Step, Verdict, failed_step, step_of
from bot_sdk.checking.wire import Connection, Got
from bot_sdk.events import Outcome

PATIENCE_MS = messages.FIRST_BUDGET_MS
"""How long is waited for each answer."""


class Questions:
    """Asks a few decisions in turn, each `at` its number: on the connection that `caller` keeps, or on others."""

    def __init__(self, caller: Caller, secret: str | None, decisions: Sequence[messages.Decision]) -> None:
        self.caller = caller
        self.clock = caller.clock
        self._secret = secret
        self._decisions = decisions

    def decision(self, at: int) -> messages.Decision:
        """Give a decision."""
        return self._decisions[at % len(self._decisions)]

    def request(self, at: int) -> Asked:
        """Make its request."""
        return self.caller.request(messages.encode(self.decision(at)), PATIENCE_MS, self._secret)

    def ask_kept(self, at: int) -> Heard:
        """Ask on the caller's own connection."""
        return self.caller.ask(self.request(at))

    def connect(self) -> Connection:
        """Open a connection; raises one of `wire.TROUBLE`, as all that follows does."""
        return self.caller.connect(PATIENCE_MS / 1000)

    def ask(self, connection: Connection, at: int, *, acknowledge_at_once: bool = False) -> Got:
        """Ask on a connection, and take the answer."""
        asked, until = self.request(at), self.clock() + PATIENCE_MS / 1000
        connection.send(asked.method, asked.headers, asked.body, until)
        return connection.receive(asked.method, until, asked.limit, acknowledge_at_once=acknowledge_at_once)


def trouble_in(name: str, error: Exception) -> Step:
    """Make a step of trouble that should not be; being late alone is a warning."""
    heard = broken(error)
    found = faults.of_call(heard.outcome, heard.status, why(heard))
    if heard.outcome is Outcome.LATE:
        return step_of(name, Verdict(found.detail, 0.0, found))
    return failed_step(name, Failed(found))
