"""Numbers as people read them, and where they lie on a scale."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Final

from bot_sdk.results.intervals import Interval

WIDTH: Final = 160
MARGIN: Final = 6
"""Of a scale, in pixels: room for half a dot at either end."""
NOTHING: Final = "–"
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400


def halves(value: float) -> str:
    """Write points, whole or half ones: ``12½``."""
    whole, is_half = int(value), value % 1 != 0
    return ("½" if whole == 0 else f"{whole}½") if is_half else str(whole)


def decimal(value: float | None, digits: int = 2) -> str:
    """Write a number with so many digits behind the point, a minus that is one, and a dash for None."""
    return NOTHING if value is None else f"{value:.{digits}f}".replace("-", "−")


def signed(value: float | None, digits: int = 2) -> str:
    """Write a number with its sign."""
    return NOTHING if value is None else f"{value:+.{digits}f}".replace("-", "−")


def percent(value: float | None) -> str:
    """Write a share in percent; what isn't quite sure is never called so."""
    if value is None:
        return NOTHING
    if 0.99 < value < 1:
        return ">99%"
    return "<1%" if 0 < value < 0.01 else f"{value:.0%}"


def span(seconds: float) -> str:
    """Write about how long something takes, in the unit that says enough."""
    if seconds < 1.5 * _MINUTE:
        return _counted(max(1, round(seconds)), "second")
    if seconds < 1.5 * _HOUR:
        return _counted(round(seconds / _MINUTE), "minute")
    return _counted(round(seconds / _HOUR), "hour") if seconds < 2 * _DAY else _counted(round(seconds / _DAY), "day")


def count(number: int, one: str, many: str | None = None) -> str:
    """Write a number with its noun: ``1 game``, ``1,200 games``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


_counted = count


@dataclass(frozen=True, slots=True)
class Whisker:
    """A mean and its interval on a scale, in pixels from the left; `low` and `high` are None where there is none."""

    at: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Scale:
    """A stretch of numbers, drawn `WIDTH` pixels wide, with the numbers at its ends and in its middle."""

    least: float
    most: float
    ticks: tuple[str, str, str]

    def at(self, value: float) -> float:
        """Give the pixel of a number; those beyond an end lie on it."""
        share = min(1.0, max(0.0, (value - self.least) / (self.most - self.least)))
        return round(MARGIN + share * (WIDTH - 2 * MARGIN), 1)

    def whisker(self, interval: Interval) -> Whisker | None:
        """Place a mean and its interval; None if there is no mean."""
        if interval.mean is None:
            return None
        if interval.low is None or interval.high is None:
            return Whisker(self.at(interval.mean), None, None)
        return Whisker(self.at(interval.mean), self.at(interval.low), self.at(interval.high))


SHARES: Final = Scale(0.0, 1.0, ("0", "½", "1"))


def scale_of(intervals: Iterable[Interval]) -> Scale:
    """Give the scale on which all of these can be seen, from one round number to another."""
    ends = [end for each in intervals for end in (each.low, each.mean, each.high) if end is not None]
    least, most = min(ends, default=0.0), max(ends, default=1.0)
    step = 10 ** floor(log10(max(most - least, 1e-9)))
    least, most = floor(least / step) * step, ceil(most / step) * step
    most = most if most > least else least + step
    return Scale(least, most, (_tick(least), _tick((least + most) / 2), _tick(most)))


def _tick(value: float) -> str:
    return f"{value:.6g}".replace("-", "−")
