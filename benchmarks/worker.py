"""What a decision costs a worker, beside a bare loop that posts the same bodies to the same bot.

A whole tournament is measured, from its start to its end: real store, one worker process with the arena's own settings,
each call signed, each reply read strictly, each decision committed; all processor time of that process counts, the
start and the end of games, the sweeper and what waits too. The loop does nothing but post, by one
``requests.Session``; its bodies were recorded from such a tournament.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Final

import requests

from benchmarks.ground import BotServer, Ground
from benchmarks.harness import Effort, Line, Row, at_least, interleave, own_cpu_us, ratio_row
from benchmarks.spent import Spent

ALONE: Final = {"river": 16, "seven_up": 80}
"""How many games a round has, one request each."""
BATCHED: Final = {"river": 64, "seven_up": 256}
"""And with batches, where only many games side by side make large ones."""
NAMES: Final = {"river": "River of four", "seven_up": "Seven Up"}
POSTS: Final = 2_000
WHAT: Final = {
    "us": ("the store's thread", "µs"),
    "commands": ("commands, those in scripts too,", "commands"),
    "scripts": ("scripts", "scripts"),
    "received": ("bytes to the store", "bytes"),
    "sent": ("bytes from the store", "bytes"),
    "journal": ("bytes of its journal", "bytes"),
}
"""What is told of a store's `Spent`, and in what unit."""


def rows(effort: Effort) -> Iterator[Line]:
    """Measure both games, one request each and in batches of up to 64."""
    with BotServer() as bots, Ground(bots) as alone, Ground(bots, max_batch=64) as batched:
        for ruleset in ALONE:
            bodies = recorded(bots, alone, ruleset, effort)
            loop = Loop(bots.url, bodies, effort.count(POSTS))
            one_each = Tournaments(bots, alone, ruleset, effort.count(ALONE[ruleset]))
            batches = Tournaments(bots, batched, ruleset, effort.count(BATCHED[ruleset]))
            bare, single, many = interleave(effort.rounds, loop, one_each, batches)
            name = NAMES[ruleset]
            yield ratio_row(f"{name}, one request each: bare loop ÷ worker", bare, single, at_least(2))
            yield ratio_row(f"{name}, batches: bare loop ÷ worker", bare, many, at_least(10))
            yield Row(f"{name}, batches: decisions a request", tuple(batches.sizes), unit="decisions")
            yield from one_each.of_store(f"{name}, one request each")
            yield from batches.of_store(f"{name}, batches")


def recorded(bots: BotServer, ground: Ground, ruleset: str, effort: Effort) -> list[bytes]:
    """Play a tournament that isn't measured; give the bodies it sent."""
    bots.record()
    ground.play(ruleset, effort.count(ALONE[ruleset]))
    return bots.recorded()


class Loop:
    """Posts recorded bodies one after the other, and counts this process's microseconds for each."""

    def __init__(self, url: str, bodies: list[bytes], count: int) -> None:
        """Prepare to post that many a round, going round the bodies."""
        self._url = f"{url}/loop"
        self._bodies = itertools.cycle(bodies)
        self._count = count

    def __call__(self) -> float:
        """Post them."""
        headers = {"Content-Type": "application/json"}
        with requests.Session() as session:
            before = own_cpu_us()
            for body in itertools.islice(self._bodies, self._count):
                session.post(self._url, data=body, headers=headers, timeout=10)
            return (own_cpu_us() - before) / self._count


class Tournaments:
    """Holds tournaments, and counts the worker's microseconds for each decision."""

    def __init__(self, bots: BotServer, ground: Ground, ruleset: str, games: int) -> None:
        """Prepare tournaments of that many games each; one is held now that isn't measured."""
        self._bots = bots
        self._ground = ground
        self._ruleset = ruleset
        self._games = games
        self.sizes: list[float] = []
        self._store_us: list[float] = []
        self._spent: list[dict[str, float]] = []
        ground.play(ruleset, games)

    def __call__(self) -> float:
        """Hold one."""
        decisions, requests_sent = self._bots.asked()
        spent = Spent.of(self._ground.redis)
        played = self._ground.play(self._ruleset, self._games)
        since = Spent.of(self._ground.redis).since(spent)
        self._spent.append({name: getattr(since, name) / played.decisions for name in WHAT})
        decisions_after, requests_after = self._bots.asked()
        self.sizes.append((decisions_after - decisions) / (requests_after - requests_sent))
        self._store_us.append(played.store_cpu_us / played.decisions)
        return played.us_each

    def of_store(self, name: str) -> Iterator[Row]:
        """Give what the store's own process took and was asked for, which nothing is compared with."""
        yield Row(f"{name}: store's CPU a decision", tuple(self._store_us), unit="µs")
        for each, (what, unit) in WHAT.items():
            yield Row(f"{name}: {what} a decision", tuple(spent[each] for spent in self._spent), unit=unit)
