"""The thread that sweeps: what is due is looked at by one process at a time, whichever has the lock."""

from __future__ import annotations

import contextlib
import logging
import os
import threading
from typing import Final

from redis import RedisError

from service.arena.sweep import Sweep
from service.store.errors import FormError
from service.store.form import FormStore

logger: Final = logging.getLogger(__name__)


class Sweeping(threading.Thread):
    """Sweeps every `every_s`, and ends the process if a newer release has made the store its own."""

    def __init__(self, sweep: Sweep, form: FormStore, stopping: threading.Event, every_s: float) -> None:
        """Keep what it works with."""
        super().__init__(name="sweeper", daemon=True)
        self._sweep = sweep
        self._form = form
        self._stopping = stopping
        self._every_s = every_s

    def run(self) -> None:
        """Sweep until the process stops."""
        while not self._stopping.wait(self._every_s):
            self._once()
        with contextlib.suppress(RedisError):  # then its lock runs out
            self._sweep.leave()

    def _once(self) -> None:
        try:
            self._form.check()
            self._sweep.once()
        except RedisError as error:
            logger.warning("not swept: %s", error)
        except FormError as error:
            logger.critical("this worker ends at once: %s", error)
            os._exit(1)  # in good order would mean to write into a store that isn't ours any more
        except Exception:  # this thread must outlive whatever broke in it
            logger.exception("the sweeper broke; it goes on")
