"""Maintenance mode: no new game begins, those that run are played to their end, everything can be read.

Tournaments can still be made, entered and started; their games wait.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from service.arena.errors import UnavailableError
from service.store.maintenance import Maintenance as Mode
from service.store.maintenance import MaintenanceStore

RETRY_AFTER_S: Final = 60


class Maintenance:
    """The operator's switch, and the question that is asked before any game begins."""

    def __init__(self, store: MaintenanceStore, *, clock: Callable[[], int]) -> None:
        """Keep where the switch is kept."""
        self._store = store
        self._clock = clock

    def get(self) -> Mode | None:
        """Give reason and beginning of the maintenance, None while there is none."""
        return self._store.get()

    def begin(self, reason: str) -> Mode:
        """Let no new game begin in any process; another reason leaves the beginning as it was."""
        found = self._store.get()
        mode = Mode(reason=reason, since=self._clock() if found is None else found.since)
        self._store.begin(mode)
        return mode

    def end(self) -> None:
        """Let games begin again."""
        self._store.end()


def check_begins(store: MaintenanceStore) -> None:
    """Raise UnavailableError while no new game may begin."""
    mode = store.get()
    if mode is not None:
        detail = f"no new games begin for now: {mode.reason}"
        raise UnavailableError(detail, code="maintenance", retry_after=RETRY_AFTER_S)
