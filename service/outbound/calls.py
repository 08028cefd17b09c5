"""Calls to bots by a fixed pool of threads: the door of this package."""

from __future__ import annotations

import logging
import queue
import threading
import time
from typing import TYPE_CHECKING

from bot_sdk.events import Outcome
from service.outbound.exchange import Exchanges, Request
from service.outbound.values import Answer, Call

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable

    from service.outbound.guard import Guard

    Done = Callable[[Answer], None]
    Job = Callable[[], None]

log = logging.getLogger(__name__)

_NEWS_THREADS = 4
_MOST_NEWS = 1_000


class Lane:
    """A fixed number of threads that work off jobs in order; started by the first job, so after any fork."""

    def __init__(self, name: str, threads: int) -> None:
        self._name = name
        self._size = threads
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()

    def put(self, job: Job) -> None:
        """Have a job done by the next thread that is free."""
        if not self._threads:
            self._start()
        self._jobs.put(job)

    def waiting(self) -> int:
        """How many jobs have no thread yet."""
        return self._jobs.qsize()

    def close(self, timeout_s: float) -> None:
        """End the threads after what is queued; wait for them no longer than this."""
        ends = time.monotonic() + timeout_s
        with self._lock:
            for _ in self._threads:
                self._jobs.put(None)
        for thread in self._threads:
            thread.join(max(0.0, ends - time.monotonic()))

    def _start(self) -> None:
        with self._lock:
            if self._threads:
                return
            self._threads = [
                threading.Thread(target=self._work, name=f"{self._name}-{number}", daemon=True)
                for number in range(self._size)
            ]
            for thread in self._threads:
                thread.start()

    def _work(self) -> None:
        while job := self._jobs.get():
            try:
                job()
            except Exception:
                log.exception("a job of %s broke", self._name)


class Calls:
    """Asks bots from a fixed pool of threads.

    A call's budget starts when a thread takes it up: waiting for one costs the bot nothing. `clock` is
    monotonic, `now` is Unix time.
    """

    def __init__(
        self,
        guard: Guard,
        *,
        threads: int = 64,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._clock = clock
        self._exchanges = Exchanges(guard, clock=clock, now=now, tls=tls)
        self._lane = Lane("bot-call", threads)
        self._news = Lane("bot-news", _NEWS_THREADS)

    def submit(self, call: Call, done: Done) -> None:
        """Ask a bot; `done` gets the answer, in a thread of the pool, exactly once, whatever happens."""
        self._lane.put(lambda: done(self.ask(call)))

    def ask(self, call: Call) -> Answer:
        """Ask a bot in the thread that calls, and wait for the answer at most the call's budget."""
        try:
            return self._exchanges.post(call)
        except Exception as error:
            log.exception("a call to %s couldn't be made", call.endpoint.bot_id)
            return Answer(call.key, Outcome.OUR_FAULT, 0.0, f"the arena broke: {type(error).__name__}")

    def get_card(self, url: str, budget_ms: float) -> Answer:
        """GET what a URL answers as its bot card, in the thread that calls; the answer's key is the URL."""
        return self._exchanges.run(Request(key=url, url=url, budget_s=budget_ms / 1000, verb="GET"))

    def notify(self, call: Call) -> None:
        """Tell a bot something that nothing waits for.

        Any 2xx will do, its body isn't read; failures are logged and dropped.
        """
        if self._news.waiting() >= _MOST_NEWS:
            log.warning("news to %s dropped: %d wait already", call.endpoint.bot_id, _MOST_NEWS)
            return
        self._news.put(lambda: self._tell(call))

    def close(self, timeout_s: float = 5.0) -> None:
        """Stop within about `timeout_s`: what waits or is under way ends as our fault, the threads end."""
        self._exchanges.close()
        ends = self._clock() + timeout_s
        for lane in (self._lane, self._news):
            lane.close(max(0.0, ends - self._clock()))

    def _tell(self, call: Call) -> None:
        answer = self._exchanges.post(call, wants_json=False)
        if answer.outcome is not Outcome.OK:
            log.info("news to %s: %s (%s)", call.endpoint.bot_id, answer.outcome, answer.error)
