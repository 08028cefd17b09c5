"""What can be wrong with a tournament's plan."""

from __future__ import annotations


class TournamentsError(Exception):
    """Base of what this package raises on purpose."""


class ImpossibleScheduleError(TournamentsError, ValueError):
    """These entries can't be seated as asked; the message says what would do."""


class ImpossibleTestError(TournamentsError, ValueError):
    """A sequential test with these parameters decides nothing; the message says what would do."""
