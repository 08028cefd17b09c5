"""The threads that drive games: one for the games of people, one for all others."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Final

from service.referee.referee import Referee
from service.referee.run import Run

logger: Final = logging.getLogger(__name__)

AGAIN_S: Final = 0.5


class Serving(threading.Thread):
    """The thread of a run. Should that break, another begins in its place, and the sweeper finds its games."""

    def __init__(
        self,
        name: str,
        referee: Callable[[], Referee],
        stopping: threading.Event,
        hand_back: Callable[[list[str]], None],
    ) -> None:
        """Begin a run at once, of `name`; `hand_back` takes the games that it leaves."""
        super().__init__(name=name, daemon=True)
        self._referee = referee
        self._stopping = stopping
        self._hand_back = hand_back
        self.current = Run(referee(), name=name)

    def run(self) -> None:
        """Drive games until the process stops."""
        while not self._stopping.is_set():
            try:
                unfinished = self.current.serve()
                if unfinished:
                    self._hand_back(unfinished)
            except Exception:  # this thread must outlive whatever broke in it
                logger.exception("the run that drives the games of %s broke; another begins", self.name)
                self._begin_another()

    def _begin_another(self) -> None:
        broken = self.current
        while self.current is broken and not self._stopping.is_set():
            try:
                self.current = Run(self._referee(), name=self.name)
            except Exception:  # whatever broke the one before, such as a lack of descriptors, may last
                logger.exception("no run for the games of %s yet", self.name)
            self._stopping.wait(AGAIN_S)
