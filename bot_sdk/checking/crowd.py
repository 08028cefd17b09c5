"""Many requests at once."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Final

import msgspec

from bot_sdk import messages
from bot_sdk.checking import faults
from bot_sdk.checking.caller import Heard, broken, judged
from bot_sdk.checking.faults import Fault, Finding
from bot_sdk.checking.judging import Judge, why
from bot_sdk.checking.questions import PATIENCE_MS, Questions
from bot_sdk.checking.values import Failed, Step, Verdict, failed_step, shown, step_of
from bot_sdk.checking.wire import TROUBLE, Connection
from bot_sdk.events import Outcome

AT_ONCE: Final = 50
_BUSY: Final = frozenset({429, 502, 503, 504})


class Crowd:
    """Asks many at once; `max_games` is what the card says, `budget_ms` when an answer would be late."""

    def __init__(self, questions: Questions, judge: Judge, *, max_games: int, budget_ms: int) -> None:
        self._questions = questions
        self._judge = judge
        self._most = max_games
        self._budget_ms = budget_ms

    def at_once(self, usual_ms: float) -> Step:
        """Ask many decisions at once, each on its own connection; if that is too much, as many as the card says."""
        heard, took = self._many(AT_ONCE)
        if failed := self._mixed_up(heard):
            return failed_step("at once", failed)
        missed = [each for _, each in heard if each.outcome is not Outcome.OK]
        slowest = max(each.ms for _, each in heard)
        told = f"{AT_ONCE} requests at once: all answered, the last after {shown(slowest)}"
        if missed:
            return self._fewer_at_once(f"{len(missed)} of {AT_ONCE} at once failed: {why(missed[0])}")
        if slowest > self._budget_ms and took > 0.7 * AT_ONCE * usual_ms:
            told += f", where one alone takes {shown(usual_ms)}: one after another"
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
            asked = self._questions.request(at)
            barrier.wait()
            start = self._questions.clock()
            until = start + PATIENCE_MS / 1000
            try:
                connection = self._questions.caller.connect(PATIENCE_MS / 1000)
                connections.append(connection)
                got = connection.ask(asked.method, asked.headers, asked.body, until, asked.limit)
                if not got.may_go_on:
                    connection.close()  # as it says; there are servers that wait for it
                heard = judged(got, asked.limit)
            except TROUBLE as error:
                heard = broken(error)
            return replace(heard, ms=1000 * (self._questions.clock() - start))

        with ThreadPoolExecutor(number) as pool:
            waiting = [pool.submit(ask, at) for at in range(number)]
            barrier.wait()
            start = self._questions.clock()
            heard = [each.result() for each in waiting]
        took = 1000 * (self._questions.clock() - start)
        for connection in connections:
            connection.close()
        return [(self._questions.decision(at), each) for at, each in enumerate(heard)], took

    def _mixed_up(self, heard: Sequence[tuple[messages.Decision, Heard]]) -> Failed | None:
        """Find an answer that came and is wrong; of one that is too busy to answer none has come."""
        asked = {decision.decision_id for decision, _ in heard}
        for at, (decision, each) in enumerate(heard):
            if each.status is None or each.status in _BUSY:
                continue
            if found := faults.of_neighbour(decision, each.body or b"", asked):
                return _of_many(len(heard), self._judge.seen(found, [decision], each), each.ms)
            try:
                self._judge.action(decision, each)
            except Failed as failed:
                found = failed.found
                if self._is_of_another(at, each, [other for other, _ in heard]):
                    told = f"{found.detail}; that is legal in another, and asked alone it answers well"
                    found = msgspec.structs.replace(found, fault=Fault.MIXED_UP, detail=told, advice=None)
                return _of_many(len(heard), found, failed.ms)
        return None

    def _is_of_another(self, at: int, each: Heard, asked: Sequence[messages.Decision]) -> bool:
        """Whether an answer to decision `at` has the action of another one, and has its own when asked alone."""
        action = faults.action_in(each.body or b"")
        if action in asked[at].legal_actions or all(action not in other.legal_actions for other in asked):
            return False
        try:
            Judge().action(asked[at], self._questions.ask_kept(at))
        except Failed:
            return False
        return True


def _of_many(number: int, found: Finding, ms: float) -> Failed:
    return Failed(msgspec.structs.replace(found, detail=f"asked {number} at once: {found.detail}"), ms)
