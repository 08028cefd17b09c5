"""How a bot serves: connections kept, answers in pieces, many requests at once, and how long it takes.

Only for a bot of one's own (``slagbot check``): the arena asks strangers one request at a time. Times are told and
warned of, never failed by: a loaded machine would fail good bots. What fails a bot here is certain whatever the load.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from statistics import median
from typing import Final

import msgspec

from bot_sdk import messages
from bot_sdk.checking import faults
from bot_sdk.checking.caller import Asked, Caller, Heard, broken, judged
from bot_sdk.checking.faults import Fault, Finding
from bot_sdk.checking.judging import Judge, why
from bot_sdk.checking.values import Doctor, Failed, Step, Verdict, failed_step, shown, step_of
from bot_sdk.checking.wire import KNOWS_QUICKACK, TROUBLE, Connection, EndedError, Got
from bot_sdk.events import Outcome

AT_ONCE: Final = 50
_SAMPLES: Final = 60
_LONGEST_S: Final = 3.0
"""After so long no more times are taken."""
_STALL_MS: Final = 25.0
"""A delayed ACK takes 40 ms on Linux and more elsewhere; whatever is quicker isn't one."""
_BUSY: Final = frozenset({429, 502, 503, 504})
_OVERTAKEN: Final = 10
"""So many later requests on one connection are answered before an earlier one on another is given up."""
_PATIENCE_S: Final = 0.2
"""How long is waited for it each time."""


class Probes:
    """Tries how the bot that `caller` asks serves; each step is of one thing."""

    def __init__(
        self,
        caller: Caller,
        secret: str | None,
        decisions: Sequence[messages.Decision],
        *,
        max_games: int,
        budget_ms: int = messages.BUDGET_MS,
        doctor: Doctor | None = None,
    ) -> None:
        """Ask these decisions, in turn; `max_games` is what the card says, `budget_ms` when an answer would be late."""
        self._caller = caller
        self._secret = secret
        self._decisions = decisions
        self._most = max_games
        self._budget_ms = budget_ms
        self._judge = Judge(doctor)
        self._usual_ms = 0.0

    def run(self) -> Iterator[Step]:
        """Try everything, step by step."""
        self._caller.close()  # whatever is kept open beside what is tried may be in its way
        kept, is_kept = self._kept()
        yield kept
        times, gaps = self._timed()
        self._caller.close()
        yield self._speed(times)
        if is_kept:
            yield self._stalls(gaps)
            yield (second := self._second_connection())
            if not second.ok:
                return
        yield self._at_once()

    def _kept(self) -> tuple[Step, bool]:
        """See whether one connection carries several requests."""
        try:
            with closing(self._connect()) as connection:
                first = self._ask(connection, 0)
                found = _why_closed(first) or self._ended(connection)
        except TROUBLE as error:
            return self._broke("keep-alive", error), False
        told = "a connection is kept and used again" if found is None else found.detail
        return step_of("keep-alive", Verdict(told, first.ms, found)), found is None

    def _ended(self, connection: Connection) -> Finding | None:
        """See whether a connection takes a second request; whoever closes it may do so a moment after the answer."""
        try:
            self._ask(connection, 1)
        except (ConnectionError, EndedError):
            return Finding(Fault.CLOSES, "expected a connection that is kept, got one closed after the answer")
        return None

    def _timed(self) -> tuple[list[float], list[float]]:
        """Ask for a while, one after another; give the times, and those between the first byte and the last."""
        times, gaps = [], []
        until = self._caller.clock() + _LONGEST_S
        for at in range(_SAMPLES):
            if self._caller.clock() > until:
                break
            heard = self._caller.post(self._body(at), messages.FIRST_BUDGET_MS, self._secret)
            times.append(heard.ms)
            if heard.got:
                gaps.append(heard.got.ms - heard.got.first_byte_ms)
        return times, gaps

    def _speed(self, times: Sequence[float]) -> Step:
        ranked = sorted(times)
        self._usual_ms = median(ranked)
        most = ranked[min(len(ranked) - 1, int(len(ranked) * 0.99))]
        told = f"p50 {shown(self._usual_ms)}, p99 {shown(most)} over {len(ranked)} decisions"
        if most <= self._budget_ms:
            return step_of("speed", Verdict(told, most))
        found = Finding(Fault.SLOW, f"{told}: expected at most {self._budget_ms} ms")
        return step_of("speed", Verdict(told, most, found))

    def _stalls(self, gaps: Sequence[float]) -> Step:
        """See whether answers come in two pieces with a pause between, and whether that is our late ACK's doing.

        A sender with Nagle's algorithm keeps a second small packet back until the first is acknowledged, which the
        receiver does some 40 ms later. Acknowledged at once, the second comes at once.
        """
        usual = median(gaps[len(gaps) // 2 :] or [0.0])
        told = f"the last byte comes {shown(usual)} after the first"
        if usual < _STALL_MS:
            return step_of("stalls", Verdict(told, usual))
        quick = self._gap_when_acknowledged() if KNOWS_QUICKACK else None
        if quick is not None and quick > usual / 2:
            return step_of("stalls", Verdict(f"{told}, however soon that is acknowledged", usual))
        if quick is None:
            told = f"probably a Nagle stall: {told}"
        else:
            told = f"a Nagle stall: {told}, and {shown(quick)} if that is acknowledged at once"
        where = "the second packet of an answer waits for a delayed ACK of about 40 ms"
        return step_of("stalls", Verdict(told, usual, Finding(Fault.STALLS, told, where)))

    def _gap_when_acknowledged(self) -> float | None:
        try:
            with closing(self._connect()) as connection:
                gots = [self._ask(connection, at, acknowledge_at_once=True) for at in range(10)]
        except TROUBLE:
            return None
        return median(got.ms - got.first_byte_ms for got in gots)

    def _second_connection(self) -> Step:
        """See whether a connection that is open and silent keeps the bot from serving another.

        By order, not by time: it is only held against the bot if it answers on the first connection again and again,
        leaves alone what came before on the second, and answers that as soon as the first is closed.
        """
        name, told = "second connection", "served beside one that is kept open"
        try:
            with closing(self._connect()) as first, closing(self._connect()) as second:
                self._ask(first, 0)
                asked = self._request(1)
                start = self._caller.clock()
                until = start + messages.FIRST_BUDGET_MS / 1000
                second.send(asked.method, asked.headers, asked.body, until)
                overtaken = 0
                while not second.has_come(_PATIENCE_S) and overtaken < _OVERTAKEN:
                    self._ask(first, overtaken)
                    overtaken += 1
                waited = 1000 * (self._caller.clock() - start)
                if overtaken < _OVERTAKEN:
                    return step_of(name, Verdict(told, second.receive("POST", until, asked.limit).ms))
                first.close()
                second.receive("POST", until + messages.FIRST_BUDGET_MS / 1000, asked.limit)
        except TROUBLE as error:
            return self._broke(name, error)
        told = (
            f"no answer on a second connection within {waited:.0f} ms, while {overtaken} later requests on the first "
            "were answered; it came when the first was closed"
        )
        return failed_step(name, Failed(Finding(Fault.SINGLE_THREADED, told), waited))

    def _at_once(self) -> Step:
        """Ask many decisions at once, each on its own connection; if that is too much, as many as the card says."""
        heard, took = self._many(AT_ONCE)
        if failed := self._mixed_up(heard):
            return failed_step("at once", failed)
        missed = [each for _, each in heard if each.outcome is not Outcome.OK]
        slowest = max(each.ms for _, each in heard)
        told = f"{AT_ONCE} requests at once: all answered, the last after {shown(slowest)}"
        if missed:
            return self._fewer_at_once(f"{len(missed)} of {AT_ONCE} at once failed: {why(missed[0])}")
        if slowest > self._budget_ms and took > 0.7 * AT_ONCE * self._usual_ms:
            told += f", where one alone takes {shown(self._usual_ms)}: one after another"
            found = self._judge.seen(Finding(Fault.SINGLE_THREADED, told), [each for each, _ in heard], None)
            return step_of("at once", Verdict(told, slowest, found))
        if slowest > self._budget_ms:
            return step_of("at once", Verdict(told, slowest, Finding(Fault.OVERLOADED, told)))
        return step_of("at once", Verdict(told, slowest))

    def _fewer_at_once(self, told: str) -> Step:
        heard, took = self._many(self._most)
        if failed := self._mixed_up(heard):
            return failed_step("at once", failed)
        missed = [each for _, each in heard if each.outcome is not Outcome.OK]
        if not missed:
            told += f"; {self._most} at once, as its max_games, were answered"
        else:
            told += f"; and {len(missed)} of {self._most} at once, its max_games: {why(missed[0])}"
        found = Finding(Fault.OVERLOADED, told, "the field max_games of the card")
        if any(each.outcome is not Outcome.LATE for each in missed):
            return failed_step("at once", Failed(found, took))
        return step_of("at once", Verdict(told, took, found))

    def _many(self, number: int) -> tuple[list[tuple[messages.Decision, Heard]], float]:
        """Ask so many at once, and keep all connections; give what came of each, and the ms until the last."""
        barrier = threading.Barrier(number + 1)
        connections: list[Connection] = []

        def ask(at: int) -> Heard:
            asked = self._request(at)
            barrier.wait()
            start = self._caller.clock()
            until = start + messages.FIRST_BUDGET_MS / 1000
            try:
                connection = self._caller.connect(messages.FIRST_BUDGET_MS / 1000)
                connections.append(connection)
                heard = judged(connection.ask(asked.method, asked.headers, asked.body, until, asked.limit), asked.limit)
            except TROUBLE as error:
                heard = broken(error)
            return replace(heard, ms=1000 * (self._caller.clock() - start))

        with ThreadPoolExecutor(number) as pool:
            waiting = [pool.submit(ask, at) for at in range(number)]
            barrier.wait()
            start = self._caller.clock()
            heard = [each.result() for each in waiting]
        took = 1000 * (self._caller.clock() - start)
        for connection in connections:
            connection.close()
        return [(self._decision(at), each) for at, each in enumerate(heard)], took

    def _mixed_up(self, heard: Sequence[tuple[messages.Decision, Heard]]) -> Failed | None:
        """Find an answer that came and is wrong; of one that is too busy to answer none has come."""
        for decision, each in heard:
            if each.status is not None and each.status not in _BUSY:
                try:
                    self._judge.action(decision, each)
                except Failed as failed:
                    told = f"asked {len(heard)} at once: {failed.found.detail}"
                    return Failed(msgspec.structs.replace(failed.found, detail=told), failed.ms)
        return None

    def _connect(self) -> Connection:
        return self._caller.connect(messages.FIRST_BUDGET_MS / 1000)

    def _ask(self, connection: Connection, at: int, *, acknowledge_at_once: bool = False) -> Got:
        asked = self._request(at)
        until = self._caller.clock() + messages.FIRST_BUDGET_MS / 1000
        connection.send(asked.method, asked.headers, asked.body, until)
        return connection.receive(asked.method, until, asked.limit, acknowledge_at_once=acknowledge_at_once)

    def _request(self, at: int) -> Asked:
        return self._caller.request(self._body(at), messages.FIRST_BUDGET_MS, self._secret)

    def _body(self, at: int) -> bytes:
        return messages.encode(self._decision(at))

    def _decision(self, at: int) -> messages.Decision:
        return self._decisions[at % len(self._decisions)]

    def _broke(self, name: str, error: Exception) -> Step:
        heard = broken(error)
        found = faults.of_call(heard.outcome, heard.status, why(heard))
        if heard.outcome is Outcome.LATE:
            return step_of(name, Verdict(found.detail, 0.0, found))
        return failed_step(name, Failed(found))


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
