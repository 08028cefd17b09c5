"""Calls to bots by a fixed pool of threads: the door of this package."""

from __future__ import annotations

import contextlib
import logging
import queue
import ssl
import time
from collections.abc import Callable
from typing import TypeAlias

from bot_sdk.events import Outcome
from service.outbound.exchange import Exchanges, Request
from service.outbound.guard import Guard
from service.outbound.lanes import Lane
from service.outbound.values import Answer, Call

Done: TypeAlias = Callable[[Answer], None]

log = logging.getLogger(__name__)

_NEWS_THREADS = 4
_NEWS_PER_HOST = 3
# So much may wait, of all hosts and of each one: what one doesn't take is no reason to drop what others would.
_MOST_NEWS = 10_000
_MOST_NEWS_OF_HOST = 1_000


class Calls:
    """Asks bots from a fixed pool of threads, of which one bot and one host get a share.

    A bot gets at most `most_per_bot`, half of them by default, and all bots of one host (a name, an IPv4 address or an
    IPv6 /64) `most_per_host`, three quarters. A call's budget starts when a thread takes it up: waiting for one costs
    the bot nothing. `clock` is monotonic, `now` is Unix time.
    """

    def __init__(
        self,
        guard: Guard,
        *,
        threads: int = 64,
        most_per_host: int | None = None,
        most_per_bot: int | None = None,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._clock = clock
        self._exchanges = Exchanges(guard, clock=clock, now=now, tls=tls)
        self._calls = Lane(
            "bot-call",
            threads=threads,
            per_host=most_per_host or max(1, threads * 3 // 4),
            per_bot=most_per_bot or max(1, threads // 2),
        )
        self._news = Lane("bot-news", threads=_NEWS_THREADS, per_host=_NEWS_PER_HOST, per_bot=1)

    def submit(self, call: Call, done: Done) -> None:
        """Ask a bot; `done` gets the answer exactly once, whatever happens, in a thread of the pool.

        It should only hand the answer on: what it does there is time that no other call gets.
        """
        host = self._exchanges.host(call.endpoint.url)
        self._calls.put(host, call.endpoint.bot_id, lambda: done(self.ask(call)))

    def line(self) -> Line:
        """Open a line for one thread that asks many bots at once."""
        return Line(self)

    def ask(self, call: Call) -> Answer:
        """Ask a bot in the thread that calls, and wait for the answer at most the call's budget."""
        try:
            return self._exchanges.post(call)
        except Exception as error:  # a call always ends in an answer; one that can't even be made is our fault
            log.exception("a call to %s couldn't be made", call.endpoint.bot_id)
            return Answer(call.key, Outcome.OUR_FAULT, 0.0, f"the arena broke: {type(error).__name__}")

    def get_card(self, url: str, budget_ms: float) -> Answer:
        """GET what a URL answers as its bot card, in the thread that calls; the answer's key is the URL."""
        return self._exchanges.run(Request(key=url, url=url, budget_s=budget_ms / 1000, verb="GET"))

    def notify(self, call: Call) -> None:
        """Tell a bot something that nothing waits for.

        Any 2xx will do, its body isn't read; failures are logged and dropped.
        """
        host = self._exchanges.host(call.endpoint.url)
        if self._news.held(host) >= _MOST_NEWS_OF_HOST or self._news.waiting >= _MOST_NEWS:
            log.warning("news to %s dropped: too much waits already", call.endpoint.bot_id)
            return
        self._news.put(host, call.endpoint.bot_id, lambda: self._tell(call))

    def close(self, timeout_s: float = 5.0) -> None:
        """Stop within about `timeout_s`: what waits or is under way ends as our fault, the threads end."""
        self._exchanges.close()
        ends = self._clock() + timeout_s
        for lane in (self._calls, self._news):
            lane.close(max(0.0, ends - self._clock()))

    def _tell(self, call: Call) -> None:
        answer = self._exchanges.post(call, wants_json=False)
        if answer.outcome is not Outcome.OK:
            log.info("news to %s: %s (%s)", call.endpoint.bot_id, answer.outcome, answer.error)


class Line:
    """Calls and their answers, of one thread, but for `wake`."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._inbox: queue.SimpleQueue[Answer | None] = queue.SimpleQueue()

    def submit(self, call: Call) -> None:
        """Send a call."""
        self._calls.submit(call, self._inbox.put)

    def wait(self, timeout_s: float) -> list[Answer]:
        """Give all answers there are, [] at the timeout or when woken."""
        found: list[Answer | None] = []
        with contextlib.suppress(queue.Empty):
            found.append(self._inbox.get(timeout=timeout_s) if timeout_s else self._inbox.get_nowait())
            while True:
                found.append(self._inbox.get_nowait())
        return [each for each in found if each is not None]

    def wake(self) -> None:
        """End a `wait`; from any thread."""
        self._inbox.put(None)

    def close(self) -> None:
        """Nothing is kept."""
