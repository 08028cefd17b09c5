"""What one bot that is always at its deadline does to the price of the others' decisions.

Beside a tournament of good bots runs another, in which one bot never answers: as many of its games as it may have at
once each wait for it until its time is up, and again. All of it is one process, so what the late games cost by
themselves is measured too, alone in the worker, less what an idle worker takes meanwhile, and taken off for each
decision that was late; whatever else is dearer counts against the others. The same ratio with nothing taken off is
reported beside it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from benchmarks.ground import BotServer, Ground, Played, wait_until
from benchmarks.harness import Effort, Line, Row, at_most
from benchmarks.trivial_bot import LATE

RULESET: Final = "river"
LATE_RULESET: Final = "seven_up"
"""In which but one other seat plays for each decision that is late, so that little has to be taken off."""
GAMES: Final = 48
LATE_GAMES: Final = 32
WATCHED: Final = 96
"""How many late decisions are watched by themselves."""
IDLE_S: Final = 3.0
LATE_LIMITS: Final = {"budget_ms": 1_000, "first_budget_ms": 1_000, "max_faults": 1_000_000}
"""The budget a bot has by default; its seat never retires."""


def rows(effort: Effort) -> Iterator[Line]:
    """Measure River of four, one request each."""
    with BotServer() as bots, Ground(bots) as ground:
        beside = Beside(bots, ground, effort)
        rounds = [beside.measure() for _ in range(effort.rounds)]
    name = "a bot always at its deadline: CPU of others' decisions, beside it ÷ without"
    yield Row(name, tuple(each.ratio for each in rounds), at_most(1.05))
    yield Row("the same, the late games' own CPU not taken off", tuple(each.plain_ratio for each in rounds))
    yield Row("a late decision by itself, with its partner's: CPU", tuple(each.late_us for each in rounds), unit="µs")


@dataclass(frozen=True, slots=True)
class Measured:
    """A round: good bots alone, before and after, and beside late ones, the decisions late then, the price of one."""

    alone: tuple[Played, Played]
    beside: Played
    late: int
    late_us: float

    @property
    def ratio(self) -> float:
        """How much dearer a decision of the others was, the late ones' own cost taken off."""
        return (self.beside.cpu_us - self.late * self.late_us) / self.beside.decisions / self.alone_us

    @property
    def plain_ratio(self) -> float:
        """The same with nothing taken off."""
        return self.beside.us_each / self.alone_us

    @property
    def alone_us(self) -> float:
        """A decision's microseconds without late ones: the machine's pace changes, so before and after count alike."""
        return sum(each.us_each for each in self.alone) / 2


class Beside:
    """Holds tournaments of good bots in turns without and beside a bot that never answers."""

    def __init__(self, bots: BotServer, ground: Ground, effort: Effort) -> None:
        """Enter the late bot with a partner of its own; hold a tournament that isn't measured."""
        self._bots = bots
        self._ground = ground
        self._games = effort.count(GAMES)
        self._late_games = effort.count(LATE_GAMES, 4)
        self._watched = effort.count(WATCHED)
        self._idle_s = IDLE_S * effort.share
        self._entries = [ground.register("late", bots.url + LATE), ground.register("partner", f"{bots.url}/partner")]
        ground.play(RULESET, self._games)

    def measure(self) -> Measured:
        """Measure a round."""
        idle_us_a_s = self._idle_us_a_s()
        before = self._ground.play(RULESET, self._games)
        late = self._ground.start(LATE_RULESET, self._late_games, self._entries, LATE_LIMITS)
        try:
            self._until_late(self._late_games)
            late_us = self._late_us(idle_us_a_s)
            began = self._bots.asked_late()
            beside = self._ground.play(RULESET, self._games)
            late_meanwhile = self._bots.asked_late() - began
        finally:
            self._ground.cancel(late)
        after = self._ground.play(RULESET, self._games)
        return Measured((before, after), beside, late_meanwhile, late_us)

    def _idle_us_a_s(self) -> float:
        """Give what an idle worker takes in a second."""
        began, before = time.monotonic(), self._ground.cpu_us()
        time.sleep(self._idle_s)
        return (self._ground.cpu_us() - before) / (time.monotonic() - began)

    def _late_us(self, idle_us_a_s: float) -> float:
        """Give what a decision that ends late costs, by watching some while nothing else is played."""
        began, before, asked = time.monotonic(), self._ground.cpu_us(), self._bots.asked_late()
        self._until_late(self._watched)
        used = self._ground.cpu_us() - before - idle_us_a_s * (time.monotonic() - began)
        return used / (self._bots.asked_late() - asked)

    def _until_late(self, count: int) -> None:
        asked = self._bots.asked_late()
        wait_until(lambda: self._bots.asked_late() >= asked + count, "a bot that lets us wait")
