"""What a decision costs when two worker processes share a tournament, and how much sooner it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from benchmarks.ground import BotServer, Ground, Played
from benchmarks.harness import Effort, Line, at_most, ratio_row

GAMES: Final = 128


def rows(effort: Effort) -> Iterator[Line]:
    """Measure both in turns, River of four, one request each; of two workers the processor time is added up."""
    with BotServer() as bots, Ground(bots) as one, Ground(bots, workers=2) as two:
        play: list[Callable[[], Played]] = [
            lambda: one.play("river", effort.count(GAMES)),
            lambda: two.play("river", effort.count(GAMES)),
        ]
        for side in play:
            side()
        played = [tuple(side() for side in play) for _ in range(effort.rounds)]
    by_one, by_two = zip(*played, strict=True)
    yield ratio_row(
        "two workers ÷ one: CPU a decision",
        [each.us_each for each in by_two],
        [each.us_each for each in by_one],
        at_most(1.1),
    )
    yield ratio_row(
        "two workers ÷ one: decisions a second",
        [each.decisions / each.wall_s for each in by_two],
        [each.decisions / each.wall_s for each in by_one],
        unit="a second",
    )
