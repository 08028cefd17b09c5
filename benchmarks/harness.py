"""What every benchmark is made of: rows, rounds that take turns, and the processor time of a process.

A subject is a module of this folder with ``rows(effort)``, which yields a `Row` for each thing measured, or a `Skipped`
for what can't be measured here. Both sides of a ratio are measured in the same run, taking turns, since a machine is
never the same twice.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol, TypeAlias


@dataclass(frozen=True, slots=True)
class Target:
    """What the median must be: `at least` or `at most` a value."""

    kind: Literal["at least", "at most"]
    value: float

    def is_met_by(self, value: float) -> bool:
        """Tell whether a median is good enough."""
        return value >= self.value if self.kind == "at least" else value <= self.value


def at_least(value: float) -> Target:
    """Make a target that larger values meet."""
    return Target("at least", value)


def at_most(value: float) -> Target:
    """Make a target that smaller values meet."""
    return Target("at most", value)


@dataclass(frozen=True, slots=True)
class Row:
    """One thing measured: a value for each round, in `unit`; without a target it is reported only.

    `detail` says what stood on the two sides, such as ``612 µs ÷ 98 µs``.
    """

    name: str
    values: tuple[float, ...]
    target: Target | None = None
    unit: str = "ratio"
    detail: str = ""

    @property
    def median(self) -> float:
        """The value that counts."""
        return statistics.median(self.values)

    @property
    def is_met(self) -> bool | None:
        """Whether the median meets the target; None without one."""
        return None if self.target is None else self.target.is_met_by(self.median)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A row that can't be measured here, and why."""

    name: str
    why: str


Line: TypeAlias = Row | Skipped


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is done: `rounds`, and the `share` of a full round's work that each does."""

    rounds: int
    share: float

    def count(self, full: int, least: int = 1) -> int:
        """Scale a number of games, decisions or calls."""
        return max(least, round(full * self.share))


FULL: Final = Effort(rounds=5, share=1.0)
SMOKE: Final = Effort(rounds=1, share=0.01)
"""Shows that a subject still runs; its figures mean nothing."""


class Subject(Protocol):
    """What a module of this folder offers."""

    def rows(self, effort: Effort) -> Iterator[Line]:
        """Measure, and yield each row when it is known."""


def interleave(rounds: int, *sides: Callable[[], float]) -> list[list[float]]:
    """Measure the sides in turns (A B A B …); give for each side what it gave in each round."""
    measured = [[side() for side in sides] for _ in range(rounds)]
    return [list(values) for values in zip(*measured, strict=True)]


def ratio_row(
    name: str, above: Sequence[float], below: Sequence[float], target: Target | None = None, *, unit: str = "µs"
) -> Row:
    """Make a row of one side divided by the other, round by round; both were measured in `unit`."""
    detail = f"{statistics.median(above):,.4g} {unit} ÷ {statistics.median(below):,.4g} {unit}"
    return Row(name, tuple(first / second for first, second in zip(above, below, strict=True)), target, detail=detail)


def cpu_us(pid: int) -> float:
    """Give the processor time that a process has used, all its threads, user and system, in microseconds.

    It is the process's own clock, to the nanosecond, not the ticks of ``/proc/PID/stat``; processes that it started
    aren't counted. Linux only.
    """
    clock = (~pid << 3) | 2  # what clock_getcpuclockid(3) gives: a process, its scheduler's clock
    return time.clock_gettime_ns(clock) / 1000


def own_cpu_us() -> float:
    """Give the processor time that this process has used, all its threads, in microseconds."""
    return time.process_time_ns() / 1000
