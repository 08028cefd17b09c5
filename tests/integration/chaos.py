"""Kills at seeded moments of the work: what dies, and how far the work is then. The same seed gives the same plan."""

from __future__ import annotations

import contextlib
import os
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tests.integration.arena import Arena, wait_until

STUCK_S = 30.0
LAST_SHARE = 0.9
"""No kill comes later than with this share of the work done, so that each hits work."""
IN_A_ROW = 2
"""After so many kills every game that runs must have gone on before the next: the arena gives a game up, and plays it
again, when three tries at one point of it came to nothing."""


@dataclass(frozen=True)
class Moment:
    """`victim` dies when there have been `at` of what is counted."""

    victim: str
    counted: str
    at: int

    def __str__(self) -> str:
        return f"{self.victim} at {self.at} {self.counted}"


def plan(seed: int, victims: Mapping[str, int], totals: Mapping[str, int]) -> list[Moment]:
    """Draw the moments: each victim so many times, anywhere in work that takes `totals` if nobody disturbs it."""
    draw = random.Random(seed)
    order = [victim for victim, times in victims.items() for _ in range(times)]
    draw.shuffle(order)
    counted = [draw.choice(list(totals)) for _ in order]
    return [
        Moment(victim, what, draw.randint(1, int(totals[what] * LAST_SHARE)))
        for victim, what in zip(order, counted, strict=True)
    ]


def unleash(
    arena: Arena,
    moments: list[Moment],
    counters: Mapping[str, Callable[[], int]],
    lengths: Callable[[], Mapping[str, int]],
) -> Iterator[Moment]:
    """Let the moments come, as the work goes on, and kill and restart their victims; give each once it has happened.

    `lengths` tells how far each game is that runs.
    """
    left, draw = list(moments), random.Random(repr(moments))

    def come() -> list[Moment]:
        counts = {what: count() for what, count in counters.items()}
        return [moment for moment in left if counts[moment.counted] >= moment.at]

    while left:
        wait_until(come, STUCK_S, f"one of {'; '.join(map(str, left))}")
        for moment in come():
            left.remove(moment)
            _strike(arena, moment.victim, draw)
            yield moment
            if len(left) % IN_A_ROW == 0:
                _recover(lengths)


def _recover(lengths: Callable[[], Mapping[str, int]]) -> None:
    before = lengths()

    def have_gone_on() -> bool:
        now = lengths()
        return all(game_id not in now or now[game_id] > length for game_id, length in before.items())

    wait_until(have_gone_on, STUCK_S, "every game to go on", every_s=0.05)


def _strike(arena: Arena, victim: str, draw: random.Random) -> None:
    if victim == "worker":
        arena.restart_worker(draw.randrange(len(arena.workers)))
    elif victim == "api":
        arena.restart_api()
    else:
        arena.restart_valkey()


@contextlib.contextmanager
def told_of_failure(arena: Arena, seed: int | None = None, happened: Sequence[Moment] = ()) -> Iterator[None]:
    """Have whatever fails in the block say how the arena is, and what would make it fail again."""
    try:
        yield
    except BaseException as error:  # raised again, with what happened
        error.add_note(f"seed {seed}; happened: {'; '.join(map(str, happened))}\n{arena.left()}\n{arena.said()}")
        raise


def fixed_seed() -> int:
    """Give SLAGVELD_TEST_SEED, or else the same seed each time, so that `make test` tries the same everywhere."""
    return int(os.environ.get("SLAGVELD_TEST_SEED") or 1)


def drawn_seed() -> int:
    """Give SLAGVELD_TEST_SEED, or else another seed each time, for the long forms."""
    return int(os.environ.get("SLAGVELD_TEST_SEED") or random.SystemRandom().randrange(2**32))
