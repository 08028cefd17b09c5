"""Deadlines in their order."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator
from typing import Generic, TypeVar

Item = TypeVar("Item")

_FEW = 64


class Timers(Generic[Item]):
    """Items by when they are due, on whatever clock; most are taken off long before.

    What is taken off leaves its number behind until it would have been due, or until such numbers are the most.
    """

    def __init__(self) -> None:
        self._heap: list[tuple[float, int]] = []
        self._items: dict[int, Item] = {}
        self._numbers = itertools.count(1)

    def add(self, due: float, item: Item) -> int:
        """Set a timer; give the number to take it off by, never 0."""
        number = next(self._numbers)
        self._items[number] = item
        heapq.heappush(self._heap, (due, number))
        return number

    def discard(self, number: int) -> None:
        """Take a timer off, if it is still set."""
        if self._items.pop(number, None) is not None and len(self._heap) > 2 * len(self._items) + _FEW:
            self._heap = [entry for entry in self._heap if entry[1] in self._items]
            heapq.heapify(self._heap)

    def next(self) -> float | None:
        """Say when the next item is due, None if nothing is set."""
        heap, items = self._heap, self._items
        while heap and heap[0][1] not in items:
            heapq.heappop(heap)
        return heap[0][0] if heap else None

    def due(self, now: float) -> Iterator[Item]:
        """Take off one by one what is due."""
        while (first := self.next()) is not None and first <= now:
            yield self._items.pop(heapq.heappop(self._heap)[1])
