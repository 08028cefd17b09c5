"""A game that a thousand people watch: each event comes to all of them, soon, and the API doesn't swell."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from statistics import quantiles

import pytest

from bot_sdk.client import Arena as Client
from tests.integration.arena import ROOT, Arena

MOVES = 40
PACE_S = 0.3
"""Between two moves; people are slower."""


class Table:
    """A River table of four people, played from here; `sent` holds when the move was sent that led to each version."""

    def __init__(self, client: Client) -> None:
        self._client = client
        made = client.create_game("river", [{"kind": "human", "name": f"player {n}"} for n in range(4)])
        self.id = made["id"]
        self._tokens = [seat["token"] for seat in made["seats"]]
        self.sent: dict[int, float] = {}

    def move(self) -> None:
        """Play the first legal action of whoever owes one."""
        seat = self._client.game(self.id)["turn"][0]
        token = self._tokens[seat]
        shown = self._client.seat(self.id, seat, token)
        at = time.monotonic()
        self._client.act(self.id, seat, shown["decision_id"], shown["legal_actions"][0], token)
        self.sent[self._client.game(self.id)["version"]] = at

    def leave(self) -> None:
        """Have everybody leave, which ends the game and its streams."""
        for seat, token in enumerate(self._tokens):
            self._client.leave(self.id, seat, token)


def resident_mib(pid: int) -> int:
    """Give the memory of a process and its children."""
    told = subprocess.run(["ps", "-o", "rss=", "--pid", str(pid), "--ppid", str(pid)], capture_output=True, check=True)
    return sum(map(int, told.stdout.split())) // 1024


def watched(folder, readers: int, moves: int, pace_s: float) -> tuple[list[float], int]:
    """Play a game that so many watch; give how long each event took to each, and by how many MiB the API grew."""
    with Arena(folder / "arena", bots=[]) as arena:
        arena.start_api()
        with Client(arena.api.address) as client:
            table = Table(client)
            url = f"{arena.api.address}/v1/games/{table.id}/stream"
            command = [sys.executable, "-m", "tests.attacks.spectators", url, str(readers)]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as spectators:
                assert spectators.stdout.readline() == "ready\n"
                before = resident_mib(arena.api.child.pid)
                for _ in range(moves):
                    table.move()
                    time.sleep(pace_s)
                grown = resident_mib(arena.api.child.pid) - before
                table.leave()
                said, _ = spectators.communicate(timeout=60)
    came = {int(number): moments for number, moments in json.loads(said).items()}
    assert {number: len(moments) for number, moments in came.items()} == dict.fromkeys(came, readers)
    assert came.keys() >= table.sent.keys()
    return [moment - at for number, at in table.sent.items() for moment in came[number]], grown


def test_every_event_comes_to_everybody_who_watches(tmp_path):
    waits, _ = watched(tmp_path, readers=150, moves=10, pace_s=0)
    assert max(waits) < 10


@pytest.mark.attack
def test_a_thousand_spectators_see_a_move_within_a_tenth_of_a_second(tmp_path):
    waits, grown = watched(tmp_path, readers=1_000, moves=MOVES, pace_s=PACE_S)
    assert quantiles(waits, n=100)[-1] <= 0.1, f"p50 {quantiles(waits, n=2)[0]:.3f}, max {max(waits):.3f}"
    assert grown <= 16
