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

ENTRIES: Final = 64
TARGETS: Final = {2: at_most(100), 4: None}
"""By seats of a table."""


def rows(effort: Effort) -> Iterator[Line]:
    """Measure the slowest round of each tournament."""
    for size, target in TARGETS.items():
        slowest = [max(play(effort.count(ENTRIES, 16), size, seed)) for seed in range(effort.rounds)]
        yield Row(
            f"Swiss, {ENTRIES} entries, tables of {size}: CPU of the slowest pairing", tuple(slowest), target, unit="ms"
        )


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
