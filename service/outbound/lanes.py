"""Fixed pools of threads in which nobody can take all the room."""

from __future__ import annotations

import logging
import queue
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable
from typing import TypeAlias

Job: TypeAlias = Callable[[], None]

log = logging.getLogger(__name__)


class Lane:
    """Works off jobs with a fixed number of threads, in order, but for those of a group that has its share.

    At most `share` jobs of one group have a thread or stand in the common queue; the others wait behind them, so that
    a bot which is always at its deadline holds up its own calls and no one else's. The threads start with the first
    job, so after any fork; they are daemons, and a job ends by its own deadline.
    """

    def __init__(self, name: str, *, threads: int, share: int) -> None:
        self._name = name
        self._size = threads
        self._share = share
        self._ready: queue.SimpleQueue[tuple[Hashable, Job] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._taken: dict[Hashable, int] = {}
        self._held: dict[Hashable, deque[Job]] = {}
        self._threads: list[threading.Thread] = []
        self._closed = False

    def put(self, group: Hashable, job: Job) -> None:
        """Have a job done as soon as there is a thread for its group; at once, by the caller, after `close`."""
        with self._lock:
            closed = self._closed
            if not closed:
                self._enqueue(group, job)
        if closed:
            job()

    @property
    def waiting(self) -> int:
        """How many jobs have no thread yet."""
        with self._lock:
            return self._ready.qsize() + sum(map(len, self._held.values()))

    def close(self, timeout_s: float) -> None:
        """End the threads once all jobs are done; wait for that no longer than `timeout_s`."""
        ends = time.monotonic() + timeout_s
        with self._lock:
            self._closed = True
            self._share = sys.maxsize
            for group, jobs in self._held.items():
                for job in jobs:
                    self._enqueue(group, job)
            self._held.clear()
            for _ in self._threads:
                self._ready.put(None)
        for thread in self._threads:
            thread.join(max(0.0, ends - time.monotonic()))

    def _enqueue(self, group: Hashable, job: Job) -> None:
        if not self._threads:
            self._start()
        taken = self._taken.get(group, 0)
        if taken < self._share:
            self._taken[group] = taken + 1
            self._ready.put((group, job))
        else:
            self._held.setdefault(group, deque()).append(job)

    def _start(self) -> None:
        self._threads = [
            threading.Thread(target=self._work, name=f"{self._name}-{number}", daemon=True)
            for number in range(self._size)
        ]
        for thread in self._threads:
            thread.start()

    def _work(self) -> None:
        while item := self._ready.get():
            group, job = item
            try:
                job()
            except Exception:  # a job that breaks must not take its thread along
                log.exception("a job of %s broke", self._name)
            self._done(group)

    def _done(self, group: Hashable) -> None:
        with self._lock:
            held = self._held.get(group)
            if held:
                job = held.popleft()
                if not held:
                    del self._held[group]
                self._ready.put((group, job))
            elif self._taken[group] > 1:
                self._taken[group] -= 1
            else:
                del self._taken[group]
