"""What the store's one thread does for a decision, and how many of them it could bear.

First whole tournaments, in which all that workers ask of the store counts; then commits alone, beside plain SETs, from
a client that sends nothing else; at last what processes ask for that have nothing to do. The time is that of the
thread which executes commands, as the store counts it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from redis import Redis

from benchmarks.api import SETTINGS, Server
from benchmarks.ground import BotServer, Ground
from benchmarks.harness import Effort, Line, Row
from benchmarks.packed import NOW, game_id, played
from benchmarks.worker import ALONE, BATCHED, NAMES
from service.launch.valkey import EmbeddedValkey
from service.store.connection import connect
from service.store.games import Proposal, as_call
from service.store.lua import call
from service.store.roundtrip import Command, exchange
from service.store.store import Store

IDLE_S: Final = 10.0
TOGETHER: Final = (1, 16)
"""So many commits go in one round trip: what a person's move is, and about what a busy worker sends."""
GAMES: Final = 64
LEASE: Final = "0123456789abcdef"
VALUE: Final = "v" * 64


def rows(effort: Effort) -> Iterator[Line]:
    """Measure tournaments, commits and idle processes."""
    with BotServer() as bots, Ground(bots) as alone, Ground(bots, max_batch=64) as batched:
        for ruleset, name in NAMES.items():
            yield from _tournaments(f"{name}, one request each", alone, ruleset, effort, ALONE)
            yield from _tournaments(f"{name}, batches", batched, ruleset, effort, BATCHED)
        yield from _spent_idly("a worker", alone.redis, effort)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="store")))
        server = stack.enter_context(EmbeddedValkey(folder))
        client = connect(server.url)
        stack.callback(client.close)
        yield from _commits(client, server.url, effort)
        gunicorn = ["-c", "python:service.launch.gunicorn_conf", "service.wsgi:application()"]
        stack.enter_context(Server(folder / "api.log", gunicorn, os.environ | SETTINGS | {"REDIS_URL": server.url}))
        yield from _spent_idly("an API process", client, effort)


@dataclass(frozen=True, slots=True)
class Spent:
    """What a store has counted since it began: the microseconds of its one thread, commands, bytes."""

    us: float
    commands: int
    scripts: int
    received: int
    sent: int
    journal: int

    @classmethod
    def of(cls, redis: Redis) -> Spent:
        """Look at a store; commands are counted one by one, those in scripts too."""
        told = redis.info("everything")
        calls = {name: each["calls"] for name, each in told.items() if name.startswith("cmdstat_")}
        return cls(
            us=1e6 * (told["used_cpu_user_main_thread"] + told["used_cpu_sys_main_thread"]),
            commands=sum(calls.values()),
            scripts=calls.get("cmdstat_evalsha", 0),
            received=told["total_net_input_bytes"],
            sent=told["total_net_output_bytes"],
            journal=told["aof_current_size"],
        )

    def since(self, before: Spent) -> Spent:
        """Give what was spent between two looks."""
        return Spent(*(getattr(self, name) - getattr(before, name) for name in self.__slots__))


def _tournaments(what: str, ground: Ground, ruleset: str, effort: Effort, games: dict[str, int]) -> Iterator[Line]:
    count = effort.count(games[ruleset])
    ground.play(ruleset, count)
    spent, decisions = [], []
    for _ in range(effort.rounds):
        before = Spent.of(ground.redis)
        decisions.append(ground.play(ruleset, count).decisions)
        spent.append(Spent.of(ground.redis).since(before))

    def each(name: str) -> tuple[float, ...]:
        return tuple(getattr(round_, name) / count for round_, count in zip(spent, decisions, strict=True))

    yield Row(f"{what}: the store's thread for a decision", each("us"), unit="µs")
    yield Row(f"{what}: commands for a decision, those in scripts too", each("commands"), unit="commands")
    yield Row(f"{what}: scripts for a decision", each("scripts"), unit="scripts")
    yield Row(f"{what}: bytes to the store for a decision", each("received"), unit="bytes")
    yield Row(f"{what}: bytes from the store for a decision", each("sent"), unit="bytes")
    yield Row(f"{what}: bytes of its journal for a decision", each("journal"), unit="bytes")


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
        yield Row(name, tuple(commits), unit="µs", detail=f"{1e6 / min(commits):,.0f} a second at the most")
        name = f"SET of 64 bytes, {what}: the store's thread for each"
        yield Row(name, tuple(sets), unit="µs", detail=f"{1e6 / min(sets):,.0f} a second at the most")


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


def _spent_idly(who: str, redis: Redis, effort: Effort) -> Iterator[Line]:
    """Tell what one process asks of store and broker, which are one server here, while it has nothing to do."""
    seconds = max(IDLE_S * effort.share, 0.5)
    rates = []
    for _ in range(effort.rounds):
        before, began = Spent.of(redis), time.monotonic()
        time.sleep(seconds)
        spent, took_s = Spent.of(redis).since(before), time.monotonic() - began
        rates.append((spent.us / took_s, spent.commands / took_s))
    busy, commands = zip(*rates, strict=True)
    yield Row(f"{who} with nothing to do: the store's thread in a second", busy, unit="µs")
    yield Row(f"{who} with nothing to do: commands in a second, those in scripts too", commands, unit="commands")
