"""Where a value lies on a small drawing whose places are percents of its width, so that it stretches with its cell."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

MARGIN: Final = 4.0
"""Percents left free at both ends: a mark at the very end would be cut."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Goes from `low` to `high`; all drawings of a column share one, so that they can be compared."""

    low: float
    high: float

    @classmethod
    def around(cls, values: Iterable[float]) -> Scale:
        """Give the scale on which all these values lie."""
        known = list(values) or [0.0]
        return cls(min(known), max(known))

    def at(self, value: float) -> float:
        """Give the place of a value, an end for one beyond it; where all are equal it is the middle."""
        width = self.high - self.low
        share = (value - self.low) / width if width > 0 else 0.5
        return round(min(max(0.0, MARGIN + share * (100 - 2 * MARGIN)), 100.0), 2)
