"""Says in the operator's terminal what the arena thinks needs attention: each alarm once, until it is over."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from bot_sdk.answers import Alarm
from bot_sdk.client import ArenaError

EVERY_S: Final = 30.0


class Attention:
    """Looks now and then. `ask` gives the alarms of `/health/ready`, `tell` takes sentences, `clock` is in seconds."""

    def __init__(
        self,
        ask: Callable[[], Iterable[Alarm]],
        tell: Callable[[str], object],
        clock: Callable[[], float],
    ) -> None:
        """Begin to look after a while: the arena starts now."""
        self._ask = ask
        self._tell = tell
        self._clock = clock
        self._next = clock() + EVERY_S
        self._known: set[str] = set()

    def look(self) -> None:
        """Look if it is time; an arena that doesn't answer is somebody else's business."""
        if self._clock() < self._next:
            return
        self._next = self._clock() + EVERY_S
        try:
            alarms = {each.alarm: each.detail for each in self._ask()}
        except ArenaError:
            return
        for word in sorted(alarms.keys() - self._known):
            self._tell(f"{word}: {alarms[word]}")
        self._known = set(alarms)
