"""How often one drive has asked in vain at the point where its game stands."""

from __future__ import annotations

from collections import Counter


class Tries:
    """Counts tries at one point, the length of a log. Decisions that fail side by side fail in one try."""

    def __init__(self) -> None:
        """Begin nowhere."""
        self._point = -1
        self._begun = 0
        self._failures: Counter[str] = Counter()

    def begin(self, point: int) -> None:
        """Note that the first try at this point has been counted."""
        self._move(point)
        self._begun = 1

    def failed(self, point: int, name: str) -> int:
        """Note that asking for a decision has failed there; give how many tries are to be counted now.

        The next one, unless another decision's failure has begun it; the first too, where the drive came to this point
        by itself.
        """
        self._move(point)
        self._failures[name] += 1
        more = max(0, self._failures[name] + 1 - self._begun)
        self._begun += more
        return more

    def _move(self, point: int) -> None:
        if point != self._point:
            self._point, self._begun = point, 0
            self._failures.clear()
