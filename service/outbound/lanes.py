"""Fixed pools of threads in which nobody can take all the room."""

from __future__ import annotations

import logging
import queue
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TypeAlias

Job: TypeAlias = Callable[[], None]

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Host:
    """How much room the bots of one host have, each by itself and all together, and the jobs that wait for theirs."""

    taken: int = 0
    by_bot: Counter[Hashable] = field(default_factory=Counter)
    held: dict[Hashable, deque[Job]] = field(default_factory=dict)  # the bot whose turn it is comes first


class Lane:
    """Works off jobs with a fixed number of threads, in order, but for those of a bot or a host that has its share.

    At most `per_bot` jobs of a bot and `per_host` of all bots of its host have a thread or stand in the common queue.
    The others wait behind them: a bot's in order, the bots of a host in turn. So a bot which is always at its deadline
    holds up its own calls, several on one host hold up each other's, and neither anyone else's. The threads start with
    the first job, so after any fork; they are daemons, and a job ends by its own deadline.
    """

    def __init__(self, name: str, *, threads: int, per_host: int, per_bot: int) -> None:
        self._name = name
        self._size = threads
        self._per_host = per_host
        self._per_bot = per_bot
        self._ready: queue.SimpleQueue[tuple[Hashable, Hashable, Job] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._hosts: dict[Hashable, _Host] = {}
        self._threads: list[threading.Thread] = []
        self._closed = False

    def put(self, host: Hashable, bot: Hashable, job: Job) -> None:
        """Have a job done as soon as there is a thread for its bot; at once, by the caller, after `close`."""
        with self._lock:
            closed = self._closed
            if not closed:
                self._enqueue(host, bot, job)
        if closed:
            job()

    @property
    def waiting(self) -> int:
        """How many jobs have no thread yet."""
        with self._lock:
            return self._ready.qsize() + sum(map(_held, self._hosts.values()))

    def held(self, host: Hashable) -> int:
        """How many jobs wait for other jobs of their host."""
        with self._lock:
            found = self._hosts.get(host)
            return 0 if found is None else _held(found)

    def close(self, timeout_s: float) -> None:
        """End the threads once all jobs are done; wait for that no longer than `timeout_s`."""
        ends = time.monotonic() + timeout_s
        with self._lock:
            self._closed = True
            self._per_host = self._per_bot = sys.maxsize
            for name, host in self._hosts.items():
                while self._admit_next(name, host):
                    pass
            for _ in self._threads:
                self._ready.put(None)
        for thread in self._threads:
            thread.join(max(0.0, ends - time.monotonic()))

    def _enqueue(self, name: Hashable, bot: Hashable, job: Job) -> None:
        if not self._threads:
            self._start()
        host = self._hosts.get(name)
        if host is None:
            host = self._hosts[name] = _Host()
        if self._has_room(host, bot):
            self._admit(name, host, bot, job)
        else:
            host.held.setdefault(bot, deque()).append(job)

    def _has_room(self, host: _Host, bot: Hashable) -> bool:
        return host.taken < self._per_host and host.by_bot[bot] < self._per_bot

    def _admit(self, name: Hashable, host: _Host, bot: Hashable, job: Job) -> None:
        host.taken += 1
        host.by_bot[bot] += 1
        self._ready.put((name, bot, job))

    def _admit_next(self, name: Hashable, host: _Host) -> bool:
        """Admit a job of the bot whose turn it is; few can be passed over, since few have all of their share."""
        bot = next((bot for bot in host.held if self._has_room(host, bot)), None)
        if bot is None:
            return False
        jobs = host.held.pop(bot)
        self._admit(name, host, bot, jobs.popleft())
        if jobs:
            host.held[bot] = jobs
        return True

    def _start(self) -> None:
        self._threads = [
            threading.Thread(target=self._work, name=f"{self._name}-{number}", daemon=True)
            for number in range(self._size)
        ]
        for thread in self._threads:
            thread.start()

    def _work(self) -> None:
        while item := self._ready.get():
            host, bot, job = item
            try:
                job()
            except Exception:  # a job that breaks must not take its thread along
                log.exception("a job of %s broke", self._name)
            self._release(host, bot)

    def _release(self, name: Hashable, bot: Hashable) -> None:
        with self._lock:
            host = self._hosts[name]
            host.taken -= 1
            host.by_bot[bot] -= 1
            if not host.by_bot[bot]:
                del host.by_bot[bot]
            if host.held:
                self._admit_next(name, host)
            elif not host.taken:
                del self._hosts[name]


def _held(host: _Host) -> int:
    return sum(map(len, host.held.values()))
