"""What pairing a Swiss round takes: whole tournaments of random strengths, half as many rounds as entries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Final

import networkx as nx  # noqa: F401  # loaded once in a process, and not what is measured

from benchmarks.harness import Effort, Line, Row, at_most, own_cpu_us
from bot_sdk.results.values import Round
from service.tournaments.swiss import swiss_round

ENTRIES: Final = (64, 128)
SIZES: Final = (2, 4)


def rows(effort: Effort) -> Iterator[Line]:
    """Measure the slowest round of each tournament; up to 64 entries, tables of two have a target."""
    for entries in ENTRIES:
        for size in SIZES:
            slowest = [max(play(effort.count(entries, 16), size, seed)) for seed in range(effort.rounds)]
            target = at_most(100) if entries <= 64 and size == 2 else None
            name = f"Swiss, {entries} entries, tables of {size}: CPU of the slowest pairing"
            yield Row(name, tuple(slowest), target, unit="ms")


def play(entries: int, size: int, seed: int) -> list[float]:
    """Play one tournament; give the milliseconds of CPU that pairing each round took."""
    rng = Random(seed)
    strength = {f"bot_{number}": rng.gauss(0, 1) for number in range(entries)}
    points: Counter[str] = Counter()
    rounds: list[Round] = []
    took = []
    for _ in range(entries // 2):
        began = own_cpu_us()
        rounds.append(swiss_round(list(strength), rounds, points, table_size=size, seed=seed))
        took.append((own_cpu_us() - began) / 1000)
        points.update(rounds[-1].byes)
        points.update(max(table, key=lambda bot: strength[bot] + rng.gauss(0, 1)) for table in rounds[-1].tables)
    return took
