"""How pages write numbers."""

from __future__ import annotations

from typing import Final

MS_OF_S: Final = 1_000


def duration(ms: float) -> str:
    """Write a time that people compare: ``0.15 ms``, ``70 ms``, ``1.5 s``."""
    return f"{ms / MS_OF_S:g} s" if ms >= MS_OF_S else f"{ms:g} ms"


def percent(share: float) -> str:
    """Write a share of one: never ``0%`` of what there is some, nor ``100%`` of what isn't all."""
    if 0 < share < 0.001:
        return "< 0.1%"
    if 0.999 < share < 1:
        return "> 99.9%"
    return f"{100 * share:.1f}".removesuffix(".0") + "%"
