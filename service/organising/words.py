"""Sentences about tournaments, made from the API's answers."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Final

_UNITS: Final = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))


def counted(number: int, what: str) -> str:
    """Say how many, such as `1 game` and `2,000 games`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def duration(seconds: int) -> str:
    """Say how long, in one unit or two, such as `2 hours 5 minutes`."""
    for (size, unit), (smaller, part) in pairwise(_UNITS):
        if seconds >= size:
            whole, rest = divmod(round(seconds / smaller), size // smaller)
            return counted(whole, unit) + (f" {counted(rest, part)}" if rest else "")
    return counted(seconds, "second")


def progress(shown: Mapping[str, Any]) -> str:
    """Say how far a tournament is; takes its state and its progress in one mapping."""
    planned = shown["planned"]
    games = counted(shown["finished"], "game") if planned is None else f"{shown['finished']:,} of {planned:,} games"
    parts = [f"{shown['state']}: {games}"]
    if shown["running"]:
        parts.append(f"{shown['running']} running")
    if shown["seconds_left"]:
        parts.append(f"about {duration(shown['seconds_left'])} left")
    return ", ".join(parts)


def plan(shown: Mapping[str, Any]) -> str:
    """Say what a tournament that can start would come to, and what that rests on."""
    games = f"{counted(shown['games'], 'game')} on {counted(shown['boards'], 'board')}"
    each = f"about {round(shown['games_per_entry'], 1):,g} for each entry"
    return "\n".join(
        [
            f"it would be {games} in {counted(shown['rounds'], 'round')}, {each}",
            f"about {counted(shown['decisions'], 'decision')}, about {duration(shown['seconds'])}",
            "this assumes:",
            *(f"- {assumption}" for assumption in shown["assumes"]),
            *(f"but {warning}" for warning in shown["warnings"]),
        ]
    )


def test(shown: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """Say how the sequential test of a match stands; `names` by bot id."""
    found = {"H0": "H0 holds", "H1": "H1 holds", None: "not decided"}[shown["verdict"]]
    two = f"{names[shown['challenger']]} against {names[shown['opponent']]}"
    bounds = f"log-likelihood ratio {shown['llr']:.2f} between {shown['lower']:.2f} and {shown['upper']:.2f}"
    return f"{two}: {found} after {counted(shown['pairs'], 'pair')}, {bounds}"
