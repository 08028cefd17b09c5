"""How long a person waits: from POST of an action until the long poll shows the next decision of the same seat.

A whole arena runs (`slagveld up`, one worker), and somebody plays Seven Up and a River table of four against `greedy`:
between two decisions of theirs one to three house bots move.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from typing import Any, Final

import requests

from benchmarks.ground import OPTIONS
from benchmarks.harness import Effort, Line, Row, at_most
from service.launch.announced import Announced

TABLES: Final = {"Seven Up": ("seven_up", 1), "River of four": ("river", 3)}
"""The ruleset and how many house bots sit there, by the game's name."""
READY_S: Final = 60.0


def rows(effort: Effort) -> Iterator[Line]:
    """Measure the time within which 19 of 20 moves were answered, by a game of each a round."""
    with TemporaryDirectory() as folder, Announced(Path(folder)) as processes:
        up = ["up", "--port", "0", "--workers", "1", "--data", f"{folder}/data", "--json"]
        url = processes.start("arena", [sys.executable, "-m", "service.cli", *up], os.environ).wait(READY_S)["url"]
        waits: dict[str, list[float]] = {name: [] for name in TABLES}
        for _ in range(effort.rounds):
            for name, (ruleset, others) in TABLES.items():
                waits[name].append(quantiles(play(url, ruleset, others), n=20)[-1])
    for name, p95s in waits.items():
        yield Row(f"{name}: from a move to the next decision, p95, wall", tuple(p95s), at_most(100), unit="ms")


def play(url: str, ruleset: str, others: int) -> list[float]:
    """Play one game; give the milliseconds from each action to the next decision."""
    seats = [{"kind": "human", "name": "me"}, *[{"kind": "house", "name": "greedy"}] * others]
    waits: list[float] = []
    with requests.Session() as session:
        order: dict[str, Any] = {"ruleset": ruleset, "options": OPTIONS[ruleset], "seats": seats}
        made = session.post(f"{url}/v1/games", json=order, timeout=10).json()
        session.headers["Authorization"] = f"Bearer {made['seats'][0]['token']}"
        seat = f"{url}/v1/games/{made['id']}/seats/0"
        acted: float | None = None
        while True:
            view = session.get(seat, params={"wait_for": "decision"}, timeout=60).json()
            if acted is not None:
                waits.append((time.perf_counter() - acted) * 1000)
            if view["state"] != "running":
                return waits
            acted = time.perf_counter()
            action = {"decision_id": view["decision_id"], "action": view["legal_actions"][-1]}
            session.post(f"{seat}/actions", json=action, timeout=10).raise_for_status()
