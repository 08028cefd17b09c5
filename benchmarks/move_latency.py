"""How long a person waits: from POST of an action until the long poll shows the next decision of the same seat.

    python benchmarks/move_latency.py [GAMES]

Runs a whole arena (`slagveld up`, one worker) and plays Seven Up and a River table of four against `greedy`, so between
two decisions of the person one to three house bots move. Prints milliseconds; the target is a p95 of 100 on an idle
machine.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from statistics import median, quantiles

import requests

TARGET_MS = 100
TABLES = {"seven_up": 1, "river": 3}


def main(games: int) -> int:
    """Play and print; give the exit status."""
    slowest = 0.0
    with tempfile.TemporaryDirectory() as data:
        command = [sys.executable, "-m", "service.cli", "up", "--port", "0", "--workers", "1", "--data", data, "--json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as arena:
            assert arena.stdout is not None
            url = json.loads(arena.stdout.readline())["url"]
            for ruleset, others in TABLES.items():
                waits = [ms for _ in range(games) for ms in play(url, ruleset, others)]
                p95 = quantiles(waits, n=20)[-1]
                slowest = max(slowest, p95)
                spread = f"p50 {median(waits):6.1f}   p95 {p95:6.1f}   max {max(waits):6.1f}"
                print(f"{ruleset:10} {len(waits):5} moves   {spread}")
            arena.terminate()
    return int(slowest > TARGET_MS)


def play(url: str, ruleset: str, others: int) -> list[float]:
    """Play one game; give the milliseconds from each action to the next decision."""
    seats = [{"kind": "human", "name": "me"}, *[{"kind": "house", "name": "greedy"}] * others]
    with requests.Session() as session:
        made = session.post(f"{url}/v1/games", json={"ruleset": ruleset, "seats": seats}, timeout=10).json()
        session.headers["Authorization"] = f"Bearer {made['seats'][0]['token']}"
        seat = f"{url}/v1/games/{made['id']}/seats/0"
        acted: list[float] = []
        shown: list[float] = []
        while True:
            view = session.get(seat, params={"wait_for": "decision"}, timeout=60).json()
            shown.append(time.perf_counter())
            if view["state"] != "running":
                break
            acted.append(time.perf_counter())
            action = {"decision_id": view["decision_id"], "action": view["legal_actions"][-1]}
            session.post(f"{seat}/actions", json=action, timeout=10).raise_for_status()
    assert len(acted) == len(list(pairwise(shown)))
    return [(after - before) * 1000 for before, after in zip(acted, shown[1:], strict=True)]


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 3))
