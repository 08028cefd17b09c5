"""What the sweeper's look at one large tournament costs, which it takes every second while games are played.

A round robin of two, all but the last of whose games have their results. Nobody plays: what is measured is a look that
finds hardly anything to do, as most looks do.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Final, cast

from benchmarks.ground import LIMITS, OWNER
from benchmarks.harness import Effort, Line, Row, own_cpu_us
from benchmarks.spent import Spent
from bot_sdk.results.values import GameState, Result
from service.arena.minting import Mint
from service.arena.queue import Queue
from service.arena.running import RatedResults, Running
from service.arena.tournaments import Tournaments
from service.launch.valkey import EmbeddedValkey
from service.store.connection import connect
from service.store.entities import TournamentState
from service.store.store import Store
from service.tournaments.boards import Place, places

ENTRIES: Final = ("house:greedy", "house:random")
SIZES: Final = (1_000, 10_000)
LOOKS: Final = 10
NOW: Final = 1_764_484_822_123


def rows(effort: Effort) -> Iterator[Line]:
    """Measure tournaments of several sizes."""
    for size in SIZES:
        games = effort.count(size, 20)
        with TemporaryDirectory(prefix="sweep") as folder, EmbeddedValkey(Path(folder)) as server:
            client, store = connect(server.url), Store.open(server.url)
            held, running = _held(store, games), _running(store)
            running.advance(held, 1)  # draws all rounds
            _give_results(store, held)
            running.advance(held, 1)  # closes boards
            looks = effort.count(LOOKS, 1)
            own, spent = [], []
            for _ in range(effort.rounds):
                before, used = Spent.of(client), own_cpu_us()
                for _ in range(looks):
                    running.advance(held, 1)
                own.append((own_cpu_us() - used) / looks / 1000)
                spent.append(Spent.of(client).since(before).us / looks / 1000)
            store.close()
            client.close()
        yield Row(f"a look at a tournament of {size:,} games: CPU of the sweeper", tuple(own), unit="ms")
        yield Row(f"a look at a tournament of {size:,} games: the store's thread", tuple(spent), unit="ms")


def _held(store: Store, games: int) -> str:
    """Start a tournament of so many games."""
    tournaments = Tournaments(
        store, max_tournaments=10, clock=lambda: NOW, root_secret=lambda: bytes(range(32)), seed=lambda: 1
    )
    order = {
        "name": "large",
        "ruleset": "seven_up",
        "options": {},
        "format": "round_robin",
        "deals": "fresh",
        "table_size": 2,
        "rounds": games,
        "seed": 1,
        "limits": LIMITS,
    }
    held = tournaments.create(OWNER, order, Mint(bytes(32), b"large")).id
    for entry in ENTRIES:
        tournaments.enter(OWNER, held, entry, "")
    tournaments.set_state(OWNER, held, TournamentState.RUNNING)
    return held


def _running(store: Store) -> Running:
    """Give the use case; nobody gets the jobs that it sends."""
    nobody = SimpleNamespace(drive=lambda _: None, drive_shard=lambda _: None)
    unrated = SimpleNamespace(take=lambda _tournament, _results: None)
    return Running(store, cast("Queue", nobody), cast("RatedResults", unrated), clock=lambda: NOW, patience_ms=15_000)


def _give_results(store: Store, held: str) -> None:
    """Write the results of all games but the last."""
    tournament = store.tournaments.get(held)
    if tournament is None:
        raise RuntimeError("expected the tournament just started")
    *done, _ = places(held, tournament.deals, store.tournaments.rounds(held))
    for place in done:
        store.tournaments.claim(held, place.slot(0))
        store.tournaments.put_result(_result(place))


def _result(place: Place) -> Result:
    slot = place.slot(0)
    return Result(
        game_id=f"gam_{place.name}",
        state=GameState.FINISHED,
        slot=slot,
        bots=list(place.bots),
        versions=["1", "1"],
        totals=[7, 3],
        places=[1, 2],
        retired=[False, False],
        forfeited=[],
        deals=9,
        outcomes=[{"ok": 30}, {"ok": 25}],
        ended_by="play",
        ended_at=NOW,
    )
