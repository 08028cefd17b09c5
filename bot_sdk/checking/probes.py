"""How a bot serves: connections kept, answers in pieces, many requests at once, and how long it takes.

Only for a bot of one's own (``slagbot check``): the arena asks strangers one request at a time. Times are told and
warned of, never failed by: a loaded machine would fail good bots. What fails a bot here is certain whatever the load.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from statistics import median
from typing import Final

from bot_sdk import messages
from bot_sdk.checking.crowd import Crowd
from bot_sdk.checking.faults import Fault, Finding
from bot_sdk.checking.judging import Judge
from bot_sdk.checking.keeping import Keeping
from bot_sdk.checking.questions import Questions
from bot_sdk.checking.values import Doctor, Step, Verdict, shown, step_of
from bot_sdk.checking.wire import KNOWS_QUICKACK, TROUBLE

_SAMPLES: Final = 60
_LONGEST_S: Final = 3.0
"""After so long no more times are taken."""
_STALL_MS: Final = 25.0
"""A delayed ACK takes 40 ms on Linux and more elsewhere; whatever is quicker isn't one."""


class Probes:
    """Tries how the bot serves that `questions` go to; each step is of one thing.

    `max_games` is what its card says, `budget_ms` when an answer would be late.
    """

    def __init__(
        self,
        questions: Questions,
        *,
        max_games: int,
        budget_ms: int = messages.BUDGET_MS,
        doctor: Doctor | None = None,
    ) -> None:
        self._questions = questions
        self._budget_ms = budget_ms
        self._keeping = Keeping(questions)
        self._crowd = Crowd(questions, Judge(doctor), max_games=max_games, budget_ms=budget_ms)

    def run(self) -> Iterator[Step]:
        """Try everything, step by step."""
        self._questions.caller.close()  # whatever is kept open beside what is tried may be in its way
        kept, is_kept = self._keeping.kept()
        yield kept
        times, gaps = self._timed()
        self._questions.caller.close()
        yield self._speed(times)
        if is_kept:
            yield self._stalls(gaps)
        yield (second := self._keeping.second_connection() if is_kept else self._keeping.beside_a_silent_one())
        if second.ok:
            yield self._crowd.at_once(median(times))

    def _timed(self) -> tuple[list[float], list[float]]:
        """Ask for a while, one after another; give the times, and those between the first byte and the last."""
        times, gaps = [], []
        until = self._questions.clock() + _LONGEST_S
        for at in range(_SAMPLES):
            if self._questions.clock() > until:
                break
            heard = self._questions.ask_kept(at)
            times.append(heard.ms)
            if heard.got:
                gaps.append(heard.got.ms - heard.got.first_byte_ms)
        return times, gaps

    def _speed(self, times: Sequence[float]) -> Step:
        ranked = sorted(times)
        most = ranked[min(len(ranked) - 1, int(len(ranked) * 0.99))]
        told = f"p50 {shown(median(ranked))}, p99 {shown(most)} over {len(ranked)} decisions"
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
            with closing(self._questions.connect()) as connection:
                gots = [self._questions.ask(connection, at, acknowledge_at_once=True) for at in range(10)]
        except TROUBLE:
            return None
        return median(got.ms - got.first_byte_ms for got in gots)
