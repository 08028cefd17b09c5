"""The thread by which what is old leaves the store for the archive; only this one ever waits for a disk."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from typing import Final

from redis import RedisError

from service.arena.retention import Retention

logger: Final = logging.getLogger(__name__)

EVERY_S: Final = 300.0
SHARE: Final = 4
"""Retention works for a quarter of the time at most: it computes, and beside it deadlines are watched."""


class Retaining(threading.Thread):
    """Takes one step after another while there is more, and looks now and then when there isn't."""

    def __init__(self, retention: Retention, stopping: threading.Event) -> None:
        """Keep what it works with."""
        super().__init__(name="retention", daemon=True)
        self._retention = retention
        self._stopping = stopping

    def run(self) -> None:
        """Let what is old go until the process stops."""
        pause_s = 0.0
        while not self._stopping.wait(pause_s):
            began = time.monotonic()
            is_more = self._step()
            took_s = time.monotonic() - began
            pause_s = took_s * (SHARE - 1) if is_more else EVERY_S
        with contextlib.suppress(RedisError):  # then its lock runs out
            self._retention.leave()

    def _step(self) -> bool:
        try:
            return self._retention.step()
        except RedisError as error:
            logger.warning("retention waits for the store: %s", error)
        except Exception:  # this thread must outlive whatever broke in it
            logger.exception("retention broke; it begins again later")
        return False
