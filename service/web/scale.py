"""Where a value lies on a small drawing whose places are percents of its width, so that it stretches with its cell."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor, log10
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

    @classmethod
    def rounded(cls, values: Iterable[float]) -> Scale:
        """Give the scale on which all these values lie, from one round number to another."""
        known = list(values) or [0.0, 1.0]
        low, high = min(known), max(known)
        step = 10 ** floor(log10(max(high - low, 1e-9)))
        low, high = floor(low / step) * step, ceil(high / step) * step
        return cls(low, high if high > low else low + step)

    @property
    def ticks(self) -> tuple[str, str, str]:
        """Give the numbers at both ends and in the middle."""
        low, middle, high = (
            f"{each:.6g}".replace("-", "−") for each in (self.low, (self.low + self.high) / 2, self.high)
        )
        return low, middle, high

    def at(self, value: float) -> float:
        """Give the place of a value, an end for one beyond it; where all are equal it is the middle."""
        width = self.high - self.low
        share = (value - self.low) / width if width > 0 else 0.5
        return round(min(max(0.0, MARGIN + share * (100 - 2 * MARGIN)), 100.0), 2)


def _tick(value: float) -> str:
    return f"{value:.6g}".replace("-", "−")


SHARES: Final = Scale(0.0, 1.0)
