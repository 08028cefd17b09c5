"""Threads that open connections: what names, strangers' networks and handshakes take happens beside everything else."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Hashable
from typing import TypeAlias

from service.outbound.shares import Entry, Shares

Job: TypeAlias = Callable[[], None]

log = logging.getLogger(__name__)


class Openers:
    """A fixed number of threads, of which one bot and one host get a share.

    They start with the first job, so after any fork; they are daemons, and a job ends by its own deadline.
    """

    def __init__(self, name: str, *, threads: int, per_host: int | None = None, per_bot: int | None = None) -> None:
        self._name = name
        self._size = threads
        self._shares: Shares[Job] = Shares(threads, per_host=per_host, per_bot=per_bot)
        self._ready: queue.SimpleQueue[Entry[Job] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._is_closed = False

    def put(self, host: Hashable, bot: Hashable, job: Job) -> None:
        """Have a job done as soon as there is a thread for its bot; never after `close`."""
        self._start()
        if self._shares.enter(host, bot, job):
            self._ready.put(Entry(host, bot, job))

    def close(self, timeout_s: float) -> None:
        """End the threads, each after the job it has; wait for that no longer than `timeout_s`."""
        ends = time.monotonic() + timeout_s
        with self._lock:
            self._is_closed = True
        for _ in self._threads:
            self._ready.put(None)
        for thread in self._threads:
            thread.join(max(0.0, ends - time.monotonic()))

    def _start(self) -> None:
        with self._lock:
            if self._threads or self._is_closed:
                return
            self._threads = [
                threading.Thread(target=self._work, name=f"{self._name}-{number}", daemon=True)
                for number in range(self._size)
            ]
            for thread in self._threads:
                thread.start()

    def _work(self) -> None:
        while (entry := self._ready.get()) and not self._is_closed:
            try:
                entry.item()
            except Exception:  # a job that breaks must not take its thread along
                log.exception("a job of %s broke", self._name)
            following = self._shares.leave(entry.host, entry.bot)
            if following is not None:
                self._ready.put(following)
