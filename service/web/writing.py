"""How pages write numbers."""

from __future__ import annotations

from typing import Final

NOTHING: Final = "–"
_MS_OF_S: Final = 1_000
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


def percent(share: float | None) -> str:
    """Write a share of one: never ``0%`` of what there is some, nor ``100%`` of what isn't all."""
    if share is None:
        return NOTHING
    if 0 < share < 0.001:
        return "< 0.1%"
    if 0.999 < share < 1:
        return "> 99.9%"
    return f"{100 * share:.1f}".removesuffix(".0") + "%"


def duration(ms: float) -> str:
    """Write a time that people compare: ``0.15 ms``, ``70 ms``, ``1.5 s``."""
    return f"{ms / _MS_OF_S:g} s" if ms >= _MS_OF_S else f"{ms:g} ms"


def span(seconds: float) -> str:
    """Write about how long something takes, in the unit that says enough."""
    if seconds < 1.5 * _MINUTE:
        return count(max(1, round(seconds)), "second")
    if seconds < 1.5 * _HOUR:
        return count(round(seconds / _MINUTE), "minute")
    return count(round(seconds / _HOUR), "hour") if seconds < 2 * _DAY else count(round(seconds / _DAY), "day")


def count(number: int, one: str, many: str | None = None) -> str:
    """Write a number with its noun: ``1 game``, ``1,200 games``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
