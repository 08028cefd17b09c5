"""How many decisions one store could bear: what its one thread takes for a commit, and for who has nothing to do.

Commits stand beside plain SETs, sent in the same way by a client that sends nothing else. The time is that of the
thread which executes commands, as the store counts it. What whole tournaments ask of it is told by `worker`.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from redis import Redis

from benchmarks.api import SETTINGS, Server
from benchmarks.ground import READY_S, start_worker, wait_until
from benchmarks.harness import Effort, Line, Row, ratio_row
from benchmarks.packed import NOW, game_id, played
from benchmarks.spent import Spent
from service.launch.valkey import EmbeddedValkey
from service.store import keys
from service.store.connection import connect
from service.store.games import Proposal, as_call
from service.store.lua import call
from service.store.roundtrip import Command, exchange
from service.store.store import Store

IDLE_S: Final = 10.0
TOGETHER: Final = (1, 16)
"""So many commits go in one round trip: what a person's move is, and about what a busy worker sends."""
GAMES: Final = 64
WORKERS: Final[dict[str, list[str]]] = {
    "a worker": [],
    "a worker with --queues tournament": ["--queues", "tournament"],
}
LEASE: Final = "0123456789abcdef"
VALUE: Final = "v" * 64


def rows(effort: Effort) -> Iterator[Line]:
    """Measure commits and idle processes."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="store")))
        server = stack.enter_context(EmbeddedValkey(folder))
        client = connect(server.url)
        stack.callback(client.close)
        yield from _commits(client, server.url, effort)
    yield from _idle(effort)


# --- commits alone ----------------------------------------------------------------------------------------------------


def _commits(client: Redis, url: str, effort: Effort) -> Iterator[Line]:
    """Commit all events of many games, one of each in turn; beside it as many SETs."""
    for together in TOGETHER:
        commits, sets = [], []
        for number in range(effort.rounds):
            commands = _games(url, effort.count(GAMES, together), first=(number + 1) * 1_000 * together)
            plain: list[Command] = [("SET", f"plain:{n % 1000}", VALUE) for n in range(len(commands))]
            commits.append(_us_each(client, commands, together))
            sets.append(_us_each(client, plain, together))
        what = f"{together} in a round trip"
        name = f"commits alone, {what}: the store's thread for each"
        yield Row(name, tuple(commits), unit="µs", detail=f"{1e6 / statistics.median(commits):,.0f} a busy second")
        yield ratio_row(f"a commit ÷ a SET of 64 bytes, {what}: the store's thread", commits, sets)


def _games(url: str, count: int, first: int) -> list[Command]:
    """Make games that a worker holds; give the commands that play them, the first event of each before any second."""
    store, play = Store.open(url), played(0)
    ids = [game_id(first + number) for number in range(count)]
    for number in range(count):
        store.games.create(play.meta(first + number), secret=play.secret, due_at=NOW)
    store.games.acquire_many(ids, LEASE, 3_600_000)
    asked = [
        Proposal(name, [event], expected=at, lease=LEASE) for at, event in enumerate(play.play.log) for name in ids
    ]
    commands = [call("commit", *as_call(proposal)) for proposal in asked]
    store.games.commit_many(asked[:1])  # the script is known from here on, and the same again is no new event
    store.close()
    return commands


def _us_each(client: Redis, commands: list[Command], together: int) -> float:
    before = Spent.of(client)
    for start in range(0, len(commands), together):
        told = exchange(client, commands[start : start + together])
        if any(isinstance(answer, Exception) for answer in told):
            raise RuntimeError(f"expected commands that the store takes, got {told}")
    return Spent.of(client).since(before).us / len(commands)


# --- nothing to do ----------------------------------------------------------------------------------------------------


def _idle(effort: Effort) -> Iterator[Line]:
    """Tell what one process asks of store and broker, two servers, while it has nothing to do."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="idle")))
        store, broker = (stack.enter_context(EmbeddedValkey(folder / name)) for name in ("store", "broker"))
        environment = os.environ | {"REDIS_URL": store.url, "SLAGVELD_BROKER_URL": broker.url}
        clients = {"store": connect(store.url), "broker": connect(broker.url)}
        for client in clients.values():
            stack.callback(client.close)
        for what, options in WORKERS.items():
            with ExitStack() as own:
                start_worker(own, folder / "workers.log", environment, *options)
                wait_until(lambda: bool(clients["store"].exists(keys.SWEEPER)), "a worker that sweeps", READY_S)
                yield from _spent_idly(what, clients, effort)
            clients["store"].delete(keys.SWEEPER)  # it was killed; the next one is to be heard of
        gunicorn = ["-c", "python:service.launch.gunicorn_conf", "service.wsgi:application()"]
        with Server(folder / "api.log", gunicorn, environment | SETTINGS):
            yield from _spent_idly("an API process", clients, effort)


def _spent_idly(who: str, clients: dict[str, Redis], effort: Effort) -> Iterator[Line]:
    seconds = max(IDLE_S * effort.share, 0.5)
    spent: dict[str, list[tuple[float, float]]] = {name: [] for name in clients}
    for _ in range(effort.rounds):
        before, began = {name: Spent.of(client) for name, client in clients.items()}, time.monotonic()
        time.sleep(seconds)
        for name, client in clients.items():
            since, took_s = Spent.of(client).since(before[name]), time.monotonic() - began
            spent[name].append((since.us / took_s, since.commands / took_s))
    for name, rates in spent.items():
        busy, commands = zip(*rates, strict=True)
        detail = f"{statistics.median(commands):,.0f} commands, those in scripts too"
        yield Row(f"{who} with nothing to do: the {name}'s thread in a second", busy, unit="µs", detail=detail)
