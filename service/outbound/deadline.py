"""One deadline over everything a call waits for."""

from __future__ import annotations

from collections.abc import Callable


class DeadlinePassed(TimeoutError):  # noqa: N818  # it is what a socket raises, and is caught as that
    """The time of a call is over."""


class Deadline:
    """A point on a monotonic clock.

    Each wait is given what remains until then, so that no sum of waits exceeds it.
    """

    __slots__ = ("_clock", "_has_looked", "ends", "started")

    def __init__(self, budget_s: float, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.started = clock()
        self.ends = self.started + budget_s
        self._has_looked = False

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return self._clock() - self.started

    @property
    def remaining(self) -> float:
        """Seconds until the end; negative after it."""
        return self.ends - self._clock()

    def left(self) -> float:
        """Seconds that remain, more than none; raises `DeadlinePassed` at the end."""
        remaining = self.ends - self._clock()
        if remaining <= 0:
            raise DeadlinePassed("the deadline passed")
        return remaining

    def may_wait(self) -> bool:
        """Whether there is time to wait; at the end not, once, to look at what has come meanwhile.

        After that one look it raises `DeadlinePassed`. Who was kept from running until after the end may find an
        answer that was there in time.
        """
        if self._clock() < self.ends:
            return True
        if self._has_looked:
            raise DeadlinePassed("the deadline passed")
        self._has_looked = True
        return False

    def forgive(self, seconds: float) -> None:
        """Move the start, and with it the end, by time that went by for a reason of ours."""
        self.started += seconds
        self.ends += seconds
