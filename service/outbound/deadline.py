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
    def overrun(self) -> float:
        """Seconds since the end; negative before it."""
        return self._clock() - self.ends

    def left(self) -> float:
        """Seconds that remain, more than none; raises `DeadlinePassed` at the end."""
        remaining = self.ends - self._clock()
        if remaining <= 0:
            raise DeadlinePassed("the deadline passed")
        return remaining

    def left_or_last_look(self) -> float:
        """Seconds that remain; at the end none, once, to look at what has come meanwhile; then raises `DeadlinePassed`.

        A thread that was kept from running until after the end may find an answer that was there in time.
        """
        remaining = self.ends - self._clock()
        if remaining > 0:
            return remaining
        if self._has_looked:
            raise DeadlinePassed("the deadline passed")
        self._has_looked = True
        return 0.0
