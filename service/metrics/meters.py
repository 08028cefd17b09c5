"""All that one process counts, passed to whoever has something to count."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from service.metrics import catalogue
from service.metrics.catalogue import Metric
from service.metrics.tallies import Cell, Count, Spread


class Meters:
    """The counters of a process, each one metric of the catalogue. Whoever is on a hot path asks `is_on` first."""

    is_on: bool = True

    def __init__(self) -> None:
        """Begin at nothing."""
        self._all: list[Count | Spread] = []
        self._looks: list[Callable[[], None]] = []
        self.requests = self._spread(catalogue.REQUESTS)
        self.in_flight = self._count(catalogue.IN_FLIGHT)
        self.streams = self._count(catalogue.STREAMS)
        self.polls = self._count(catalogue.POLLS)
        self.decisions = self._spread(catalogue.DECISIONS)
        self.batches = self._spread(catalogue.BATCHES)
        self.calls_waiting = self._count(catalogue.CALLS_WAITING)
        self.driven = self._count(catalogue.DRIVEN)
        self.turns = self._spread(catalogue.TURNS)
        self.commits = self._count(catalogue.COMMITS)
        self.ended = self._count(catalogue.ENDED)
        self.leases_lost = self._count(catalogue.LEASES_LOST)
        self.our_faults = self._count(catalogue.OUR_FAULTS)
        self.checks = self._count(catalogue.CHECKS)
        self.sweeps = self._count(catalogue.SWEEPS)
        self.found = self._count(catalogue.FOUND)
        self.round_trips = self._spread(catalogue.ROUND_TRIPS)
        self.processes = self._count(catalogue.PROCESSES)
        self.cpu = self._count(catalogue.CPU)
        self.memory = self._count(catalogue.MEMORY)
        self.descriptors = self._count(catalogue.DESCRIPTORS)
        self.threads = self._count(catalogue.THREADS)

    def look_at(self, look: Callable[[], None]) -> None:
        """Have something called before each reading, to set gauges; it must not wait, and may be in another thread."""
        self._looks.append(look)

    def cells(self) -> list[Cell]:
        """Read everything as it is now."""
        for look in self._looks:
            look()
        return [cell for each in self._all for cell in each.cells()]

    def _count(self, metric: Metric) -> Count:
        made = Count(metric)
        self._all.append(made)
        return made

    def _spread(self, metric: Metric) -> Spread:
        made = Spread(metric)
        self._all.append(made)
        return made


class _SilentCount(Count):
    def add(self, *labels: str, by: float = 1) -> None:
        """Forget it."""

    def set(self, value: float, *labels: str) -> None:
        """Forget it."""


class _SilentSpread(Spread):
    def note(self, value: float, *labels: str) -> None:
        """Forget it."""

    def note_many(self, values: object) -> None:
        """Forget them."""


class _Silent(Meters):
    """Counts nothing."""

    is_on = False

    def _count(self, metric: Metric) -> Count:
        return _SilentCount(metric)

    def _spread(self, metric: Metric) -> Spread:
        return _SilentSpread(metric)


@cache
def silent() -> Meters:
    """Give the meters of a process that isn't measured."""
    return _Silent()
