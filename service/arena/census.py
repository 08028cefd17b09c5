"""What the arena has to do and how it is, as metrics: asked of store and broker whenever somebody reads them."""

from __future__ import annotations

import platform
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from service.arena.readiness import WORKER_MS, Readiness
from service.metrics import catalogue
from service.metrics.catalogue import Metric
from service.metrics.tallies import Cell
from service.store.census import Counted

KINDS: Final = ("game", "tournament", "fit", "erase", "health", "check")
"""What may be due, each shown though there be none of it."""


class Backlog(Protocol):
    """Of one queue: the jobs that nobody has fetched, when the next of them was sent (Unix ms), those given up."""

    @property
    def jobs(self) -> int: ...  # noqa: D102 - said above
    @property
    def next_sent_at(self) -> int | None: ...  # noqa: D102 - likewise
    @property
    def dead(self) -> int: ...  # noqa: D102 - likewise


@dataclass(frozen=True, slots=True)
class Census:
    """Looks at the arena; what can't be looked at is left out. Several may ask at once, one after the other looks.

    `count` looks at what is due, `queues` at the broker.
    """

    version: str
    readiness: Readiness
    count: Callable[[int, int], Counted]
    queues: Callable[[], Mapping[str, Backlog]]
    clock: Callable[[], int]
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def cells(self) -> list[Cell]:
        """Look now."""
        build = _cell(catalogue.BUILD, 1, self.version, platform.python_version())
        with self._lock:
            return [
                build,
                *self._of_store(),
                *self._of_queues(),
            ]

    def _of_store(self) -> Iterator[Cell]:
        try:
            seen, alarms = self.readiness.seen()
            counted = self.count(seen.now, max(WORKER_MS, 5 * self.readiness.sweep_ms))
        except Exception:  # noqa: BLE001 - whatever the store says: that it can't be worked with is what we tell
            yield _cell(catalogue.STORE_UP, 0)
            return
        yield _cell(catalogue.STORE_UP, 1)
        yield from (_cell(catalogue.ALARM, 1, word) for word in alarms)
        yield _cell(catalogue.WORKERS, counted.workers)
        for kind in sorted({*KINDS, *counted.due}):
            yield _cell(catalogue.DUE, counted.due[kind], kind)
            yield _cell(catalogue.OVERDUE, counted.overdue[kind], kind)
        yield _cell(catalogue.OVERDUE_AGE, _age_s(seen.now, seen.oldest_due))
        yield _cell(catalogue.STORE_MEMORY, seen.used)
        yield _cell(catalogue.STORE_LIMIT, seen.limit)

    def _of_queues(self) -> Iterator[Cell]:
        try:
            found = self.queues()
        except Exception:  # noqa: BLE001 - likewise: there is nothing to tell of the queues
            return
        for queue, backlog in found.items():
            yield _cell(catalogue.QUEUED, backlog.jobs, queue)
            yield _cell(catalogue.QUEUED_AGE, _age_s(self.clock(), backlog.next_sent_at), queue)
            yield _cell(catalogue.DEAD, backlog.dead, queue)


def _cell(metric: Metric, value: float, *labels: str) -> Cell:
    return Cell(metric.name, labels, [float(value)])


def _age_s(now: int, since: int | None) -> float:
    return 0.0 if since is None else max(0, now - since) / 1000
