"""What can be wrong with a tournament's plan."""

from __future__ import annotations


class TournamentsError(Exception):
    """Base of what this package raises on purpose."""


class ImpossibleScheduleError(TournamentsError, ValueError):
    """These entries can't be seated as asked; the message says what would do."""


class SettingError(TournamentsError, ValueError):
    """A format can't have this setting; `field` names it."""

    def __init__(self, field: str, message: str) -> None:
        """Keep which setting is wrong."""
        super().__init__(message)
        self.field = field
