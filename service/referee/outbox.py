"""What a run has to ask: gathered for bots that take batches, sent, and kept until the answers come."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from math import inf
from typing import Final

from service.metrics.meters import Meters, silent
from service.outbound.values import Answer, Call, Endpoint
from service.referee.asking import Asking, batch, single, verdicts_in
from service.referee.referee import Line
from service.referee.verdicts import Verdict

GATHER_S: Final = 0.0025
"""How long a decision waits at most for others that the same bot is asked in one request."""


class _Group:
    """Decisions of one endpoint with equal budgets, the first of them there since `since` (s)."""

    __slots__ = ("askings", "since")

    def __init__(self, since: float) -> None:
        self.askings: list[Asking] = []
        self.since = since


class Outbox:
    """Asks by a line. `name`, which no other has, is what batches are named by. Not for several threads.

    Decisions for a bot that takes batches go in one request, as many as it takes. Fewer wait a moment, `GATHER_S` at
    most, for more: while the bot is being asked something else or other games of the run are about to go on. Their
    budgets haven't begun then.
    """

    def __init__(self, line: Line, name: str, meters: Meters | None = None) -> None:
        """Begin with nothing to ask."""
        self._batches = (meters or silent()).batches
        self._line = line
        self._name = name
        self._keys = itertools.count()
        self._groups: dict[tuple[Endpoint, int, int], _Group] = {}  # by budget and size of a batch, too
        self._in_flight: dict[Hashable, list[Asking]] = {}
        self._asked: Counter[Endpoint] = Counter()

    @property
    def is_waiting(self) -> bool:
        """Whether anything is on its way."""
        return bool(self._in_flight)

    @property
    def batches_out(self) -> int:
        """How many requests to bots that take batches aren't answered yet, or their answers not read."""
        return self._asked.total()

    def put(self, askings: Sequence[Asking], now: float) -> None:
        """Have decisions asked, those of bots that take no batches at once; `now` is monotonic (s)."""
        for asking in askings:
            if asking.max_batch == 1:
                self._send(single(asking, next(self._keys)), [asking])
            else:
                key = (asking.endpoint, asking.decision.budget_ms, asking.max_batch)
                group = self._groups.get(key)
                if group is None:
                    group = self._groups[key] = _Group(now)
                group.askings.append(asking)

    def send(self, now: float, *, more_to_come: bool) -> None:
        """Send what has been gathered for long enough; all of it, if nothing is worth waiting for."""
        for key, group in list(self._groups.items()):
            while len(group.askings) >= group.askings[0].max_batch:
                self._send_first(group)
                if not group.askings:
                    break
            if not group.askings:
                del self._groups[key]
            elif now - group.since >= GATHER_S or not (more_to_come or self._asked[key[0]]):
                self._send_first(group)
                del self._groups[key]

    def patience_s(self, now: float) -> float:
        """Tell in how many seconds something gathered must be sent; infinity if nothing is."""
        if not self._groups:
            return inf
        return max(0.0, min(group.since for group in self._groups.values()) + GATHER_S - now)

    def verdicts(self, answer: Answer) -> Iterator[tuple[Asking, Verdict]]:
        """Read an answer as one verdict for each decision it was asked for; none if nothing was."""
        askings = self._in_flight.pop(answer.key, None)
        if askings is None:
            return iter(())
        if askings[0].max_batch > 1:
            self._forget(askings[0].endpoint)
        return verdicts_in(answer, askings)

    def _forget(self, endpoint: Endpoint) -> None:
        self._asked[endpoint] -= 1
        if not self._asked[endpoint]:
            del self._asked[endpoint]  # it holds secrets, and there is no end of bots

    def _send_first(self, group: _Group) -> None:
        askings = group.askings[: group.askings[0].max_batch]
        del group.askings[: len(askings)]
        self._asked[askings[0].endpoint] += 1
        key = next(self._keys)
        self._send(
            single(askings[0], key) if len(askings) == 1 else batch(askings, key, f"{self._name}.{key}"), askings
        )

    def _send(self, call: Call, askings: list[Asking]) -> None:
        self._in_flight[call.key] = askings
        self._batches.note(len(askings))
        self._line.submit(call)
