"""What a bot does with connections: whether it keeps them, and serves one beside another."""

from __future__ import annotations

from contextlib import closing
from typing import Final

from bot_sdk.checking.faults import Fault, Finding
from bot_sdk.checking.questions import PATIENCE_MS, Questions, trouble_in
from bot_sdk.checking.values import Failed, Step, Verdict, failed_step, shown, step_of
from bot_sdk.checking.wire import TROUBLE, Connection, EndedError, Got

_OVERTAKEN: Final = 10
"""So many later requests on one connection are answered before an earlier one on another is given up."""
_PATIENCE_S: Final = 0.2
"""How long is waited for it each time."""
_SILENT_TRIES: Final = 3
_SILENT_S: Final = 1.0
"""How long a silent connection is kept open beside another, each time."""


class Keeping:
    """Tries how connections are kept."""

    def __init__(self, questions: Questions) -> None:
        self._questions = questions

    def kept(self) -> tuple[Step, bool]:
        """See whether one connection carries several requests."""
        try:
            with closing(self._questions.connect()) as connection:
                first = self._questions.ask(connection, 0)
                found = _why_closed(first) or self._ended(connection)
        except TROUBLE as error:
            return trouble_in("keep-alive", error), False
        told = "a connection is kept and used again" if found is None else found.detail
        return step_of("keep-alive", Verdict(told, first.ms, found)), found is None

    def _ended(self, connection: Connection) -> Finding | None:
        """See whether a connection takes a second request; whoever closes it may do so a moment after the answer."""
        try:
            self._questions.ask(connection, 1)
        except (ConnectionError, EndedError):
            return Finding(Fault.CLOSES, "expected a connection that is kept, got one closed after the answer")
        return None

    def second_connection(self) -> Step:
        """See whether a connection that is open and silent keeps the bot from serving another.

        By order, not by time: it is only held against the bot if it answers on the first connection again and again,
        leaves alone what came before on the second, and answers that as soon as the first is closed.
        """
        name, told = "second connection", "served beside one that is kept open"
        try:
            with closing(self._questions.connect()) as first, closing(self._questions.connect()) as second:
                self._questions.ask(first, 0)
                asked = self._questions.request(1)
                start = self._questions.clock()
                until = start + PATIENCE_MS / 1000
                second.send(asked.method, asked.headers, asked.body, until)
                overtaken = 0
                while not second.has_come(_PATIENCE_S) and overtaken < _OVERTAKEN:
                    self._questions.ask(first, overtaken)
                    overtaken += 1
                waited = 1000 * (self._questions.clock() - start)
                if overtaken < _OVERTAKEN:
                    return step_of(name, Verdict(told, second.receive("POST", until, asked.limit).ms))
                first.close()
                second.receive("POST", until + PATIENCE_MS / 1000, asked.limit)
        except TROUBLE as error:
            return trouble_in(name, error)
        told = (
            f"no answer on a second connection within {waited:.0f} ms, while {overtaken} later requests on the first "
            "were answered; it came when the first was closed"
        )
        return failed_step(name, Failed(Finding(Fault.SINGLE_THREADED, told, "the second connection"), waited))

    def beside_a_silent_one(self) -> Step:
        """See whether a connection on which nothing is asked keeps a bot that closes each from serving another.

        Answered just when the silent one is closed, again and again: that is no accident.
        """
        name, waited = "second connection", 0.0
        try:
            for _ in range(_SILENT_TRIES):
                with closing(self._questions.connect()) as silent, closing(self._questions.connect()) as second:
                    asked, start = self._questions.request(1), self._questions.clock()
                    until = start + 2 * PATIENCE_MS / 1000
                    second.send(asked.method, asked.headers, asked.body, until)
                    if second.has_come(_SILENT_S):
                        return step_of(name, Verdict("served beside one on which nothing is asked", waited))
                    silent.close()
                    second.receive("POST", until, asked.limit)
                    waited = 1000 * (self._questions.clock() - start)
        except TROUBLE as error:
            return trouble_in(name, error)
        told = f"a second connection waited {shown(waited)}, until a first one was closed on which nothing was asked"
        return step_of(name, Verdict(told, waited, Finding(Fault.SINGLE_THREADED, told, "the second connection")))


def _why_closed(got: Got) -> Finding | None:
    """Say why a connection can't be used again, as far as the answer on it tells; None if it may."""
    if got.version < 11 and not got.may_go_on:
        return Finding(
            Fault.HTTP_1_0, "expected HTTP/1.1, got HTTP/1.0, which closes each connection", "the status line"
        )
    if "close" in (got.header("Connection") or "").lower():
        return Finding(
            Fault.CLOSES, "expected a connection that is kept, got Connection: close", "the header Connection"
        )
    if not got.may_go_on:
        told = "expected an answer that says how long it is, got one that ends with its connection"
        return Finding(Fault.CLOSES, told, "the header Content-Length")
    return None
