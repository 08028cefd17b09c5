"""How long pairing a Swiss round takes: whole tournaments of random strengths, N / 2 rounds each.

    python benchmarks/swiss_rounds.py [ENTRIES ...]

Prints milliseconds of CPU a round, by number of entries and table size; the target is 100 for two seats and up to 64
entries.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from random import Random
from statistics import median

import networkx as nx  # noqa: F401  # loaded once in a process, and not what is measured

from bot_sdk.results.values import Round
from service.tournaments.swiss import swiss_round

TARGET_MS = 100


def main(fields: list[int]) -> int:
    """Play and print; give the exit status."""
    missed = False
    for n in fields:
        for size in (2, 4, 8):
            took = play(n, size)
            spread = f"p50 {median(took):6.1f}   max {max(took):6.1f}"
            print(f"{n:4} entries   {size} seats   {len(took):3} rounds   {spread}")
            missed |= size == 2 and n <= 64 and max(took) > TARGET_MS
    return int(missed)


def play(n: int, size: int) -> list[float]:
    """Play one tournament; give the milliseconds that pairing each round took."""
    rng = Random(n)
    strength = {f"bot_{number}": rng.gauss(0, 1) for number in range(n)}
    points: Counter[str] = Counter()
    rounds: list[Round] = []
    took = []
    for _ in range(n // 2):
        start = time.process_time()
        rounds.append(swiss_round(list(strength), rounds, points, table_size=size, seed=n))
        took.append(1000 * (time.process_time() - start))
        points.update(rounds[-1].byes)
        points.update(max(table, key=lambda bot: strength[bot] + rng.gauss(0, 1)) for table in rounds[-1].tables)
    return took


if __name__ == "__main__":
    sys.exit(main([int(n) for n in sys.argv[1:]] or [16, 33, 63, 64, 128]))
