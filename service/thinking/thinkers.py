"""The pool of processes in which a worker has house bots think."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from time import monotonic
from typing import Final

from msgspec import Raw

from service.thinking.frames import Question, Thought
from service.thinking.process import BrokenError, NoProcessError, Process

LEAST_S: Final = 5.0
"""How long any decision may take before its process counts as hung, however small the budget: that a machine is busy is
no reason to abort a game."""
PAUSE_S: Final = 0.5
"""How long to wait where no process can be started, before that is said: it may pass."""

logger: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Job:
    """A decision to be thought about; `done` hears of it in a thread of the pool, with the ms that it took."""

    bot_id: str
    key: str = field(repr=False)
    decision: bytes = field(repr=False)
    budget_s: float
    done: Callable[[Thought, float], None]


class Thinkers:
    """At most `size` processes, each with a thread that feeds it; they begin when there is work for them.

    Owners of jobs are served in turn, so that a person's opponent doesn't wait behind a tournament's. A job that its
    process didn't survive, or that took too long, is answered with an error: it isn't tried again here.
    """

    def __init__(self, size: int, *, least_s: float = LEAST_S, process: Callable[[], Process] = Process) -> None:
        """Start nothing yet."""
        self._size = size
        self._least_s = least_s
        self._process = process
        self._changed = threading.Condition()
        self._waiting: dict[Hashable, deque[Job]] = {}
        self._idle = 0
        self._processes: list[Process] = []
        self._threads: list[threading.Thread] = []
        self._is_closed = False

    def put(self, owner: Hashable, job: Job) -> None:
        """Have a job done when there is a process for it; never after `close`."""
        with self._changed:
            if self._is_closed:
                return
            self._waiting.setdefault(owner, deque()).append(job)
            self._changed.notify()
            if len(self._threads) < self._size and self._idle < sum(map(len, self._waiting.values())):
                self._begin()

    def forget(self, owner: Hashable) -> None:
        """Drop what an owner's jobs wait for; those begun are done."""
        with self._changed:
            self._waiting.pop(owner, None)

    def close(self, timeout_s: float) -> None:
        """End all processes at once, and the threads; what they were at is answered with an error."""
        with self._changed:
            self._is_closed = True
            self._waiting.clear()
            self._changed.notify_all()
            threads = list(self._threads)
        ends = monotonic() + timeout_s
        while any(thread.is_alive() for thread in threads) and monotonic() < ends:
            for process in self._processes:
                process.kill()  # again and again: one may just have been started
            for thread in threads:
                thread.join(0.01)

    def pids(self) -> list[int]:
        """List the processes there are."""
        return [pid for process in self._processes if (pid := process.pid) is not None]

    def _begin(self) -> None:
        process = self._process()
        thread = threading.Thread(target=self._work, args=(process,), name=f"thinker-{len(self._threads)}", daemon=True)
        self._processes.append(process)
        self._threads.append(thread)
        thread.start()

    def _work(self, process: Process) -> None:
        try:
            while (job := self._take()) is not None:
                began = monotonic()
                thought = self._think(process, job)
                job.done(thought, (monotonic() - began) * 1000)
        finally:
            process.end()

    def _take(self) -> Job | None:
        with self._changed:
            while not self._waiting and not self._is_closed:
                self._idle += 1
                self._changed.wait()
                self._idle -= 1
            if self._is_closed:
                return None
            owner = next(iter(self._waiting))
            jobs = self._waiting.pop(owner)
            job = jobs.popleft()
            if jobs:
                self._waiting[owner] = jobs  # behind the others
            return job

    def _think(self, process: Process, job: Job) -> Thought:
        longest_s = max(job.budget_s, self._least_s)
        try:
            return process.ask(Question(job.bot_id, job.key, longest_s, Raw(job.decision)))
        except NoProcessError as error:
            logger.warning("no process to think in: %s", error)
            with self._changed:
                self._changed.wait_for(lambda: self._is_closed, PAUSE_S)
            return Thought(None, f"no process for {job.bot_id}: {error}")
        except BrokenError as error:
            logger.warning("a process that thinks broke over %s: %s", job.bot_id, error, extra={"bot_id": job.bot_id})
            return Thought(None, f"{job.bot_id} broke: {error}")
        except Exception as error:  # whoever waits for an answer must get one, and this thread must outlive it
            logger.exception("thinking broke over %s", job.bot_id, extra={"bot_id": job.bot_id})
            return Thought(None, f"{job.bot_id} broke: {type(error).__name__}")
