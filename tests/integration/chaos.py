"""Kills at seeded moments: what dies, and after how much further work. The same seed gives the same plan."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.integration.arena import Arena, wait_until

STUCK_S = 30.0


@dataclass(frozen=True)
class Moment:
    """After `after` more decisions asked, or results written, `victim` dies."""

    victim: str
    counts: str
    after: int

    def __str__(self) -> str:
        return f"{self.victim} after {self.after} more {self.counts}"


def plan(seed: int, victims: dict[str, int], *, decisions: int, results: int) -> list[Moment]:
    """Draw the moments: each victim so many times, at most `decisions` or `results` apart."""
    draw = random.Random(seed)
    order = [victim for victim, times in victims.items() for _ in range(times)]
    draw.shuffle(order)
    return [_moment(draw, victim, decisions, results) for victim in order]


def _moment(draw: random.Random, victim: str, decisions: int, results: int) -> Moment:
    if draw.random() < 0.7:
        return Moment(victim, "decisions", draw.randint(1, decisions))
    return Moment(victim, "results", draw.randint(1, results))


def unleash(arena: Arena, moments: list[Moment], counters: dict[str, Callable[[], int]], is_over: Callable[[], bool]) -> Iterator[Moment]:
    """Let each moment come, kill and restart its victim; give each moment once it has happened."""
    draw = random.Random(str(moments))
    for moment in moments:
        count = counters[moment.counts]
        goal = count() + moment.after
        wait_until(lambda count=count, goal=goal: count() >= goal or is_over(), STUCK_S, str(moment))
        assert not is_over(), f"all was played before {moment}: nothing was tested by it"
        if moment.victim == "worker":
            arena.restart_worker(draw.randrange(len(arena.workers)))
        elif moment.victim == "api":
            arena.restart_api()
        else:
            arena.restart_valkey()
        yield moment
