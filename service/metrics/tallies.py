"""Counts and times kept in memory, at a fraction of a microsecond each, from any thread.

A library's own counters take several: too much for a decision that costs a worker sixty (docs/decisions/0007).
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Iterable
from typing import TypeAlias

import msgspec

from service.metrics.catalogue import BY_NAME, Metric

Labels: TypeAlias = tuple[str, ...]


class Cell(msgspec.Struct, frozen=True, array_like=True):
    """What is known of one metric and one set of labels: `Metric.size` numbers."""

    name: str
    labels: Labels
    values: list[float]


class Count:
    """A counter, or a gauge that goes up and down."""

    def __init__(self, metric: Metric) -> None:
        """Begin at nothing: what was never counted isn't shown, unless it has no labels or they are known."""
        self.metric = metric
        self._lock = threading.Lock()
        self._cells: dict[Labels, float] = {(each,): 0.0 for each in metric.known} if metric.labels else {(): 0.0}

    def add(self, *labels: str, by: float = 1) -> None:
        """Count; whether there are as many labels as the metric has isn't checked."""
        with self._lock:
            self._cells[labels] = self._cells.get(labels, 0.0) + by

    def set(self, value: float, *labels: str) -> None:
        """Set a gauge."""
        with self._lock:
            self._cells[labels] = value

    def cells(self) -> list[Cell]:
        """Give what is known, by labels."""
        with self._lock:
            return [Cell(self.metric.name, labels, [value]) for labels, value in self._cells.items()]


class Spread:
    """A histogram: how many values lie in each class, the upper end of it included, and their sum."""

    def __init__(self, metric: Metric) -> None:
        """Begin at nothing, as `Count` does."""
        self.metric = metric
        self._bounds = metric.bounds
        self._lock = threading.Lock()
        self._cells: dict[Labels, list[float]] = {} if metric.labels else {(): [0.0] * metric.size}

    def note(self, value: float, *labels: str) -> None:
        """Note a value, as `Count.add`."""
        with self._lock:
            self._note(value, labels)

    def note_many(self, values: Iterable[tuple[float, Labels]]) -> None:
        """Note several values, each with its labels."""
        with self._lock:
            for value, labels in values:
                self._note(value, labels)

    def cells(self) -> list[Cell]:
        """Give what is known, by labels."""
        with self._lock:
            return [Cell(self.metric.name, labels, values.copy()) for labels, values in self._cells.items()]

    def _note(self, value: float, labels: Labels) -> None:
        cell = self._cells.get(labels)
        if cell is None:
            cell = self._cells[labels] = [0.0] * self.metric.size
        cell[bisect_left(self._bounds, value)] += 1
        cell[-1] += value


def merged(cells: Iterable[Cell]) -> list[Cell]:
    """Add up what several processes know; what no metric of this release fits is left out."""
    found: dict[tuple[str, Labels], list[float]] = {}
    for cell in cells:
        metric = BY_NAME.get(cell.name)
        if metric is None or len(cell.values) != metric.size or len(cell.labels) != len(metric.labels):
            continue
        known = found.get((cell.name, cell.labels))
        found[cell.name, cell.labels] = (
            cell.values if known is None else [sum(pair) for pair in zip(known, cell.values, strict=True)]
        )
    return [Cell(name, labels, values) for (name, labels), values in found.items()]
