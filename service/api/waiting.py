"""Who waits: streams and long polls hold a place while they are open, and one address may have so many at a process.

So may one bot: each call that comes for it wakes all who poll.

A reader who has gone is noticed by the next message to him, a heartbeat at the latest; a long poll ends in time anyway.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from time import perf_counter
from typing import Final, cast

from flask import Flask, current_app

from service.api import limits, measuring
from service.api.problems import Problem
from service.metrics.meters import Meters

RETRY_AFTER_S: Final = 5
MOST_OF_BOT: Final = 32
"""So many polls of one bot may wait at a process."""
_EXTENSION: Final = "slagveld.waiting"
_OF_BOTS: Final = "slagveld.waiting.bots"
_METERS: Final = "slagveld.waiting.meters"


class Places:
    """The places of one process for `what`: at most `most` for each address, or whatever else they are counted by."""

    def __init__(self, most: int, what: str = "streams and long polls of one address") -> None:
        self._most = most
        self._what = what
        self._lock = threading.Lock()
        self._taken: Counter[str] = Counter()

    def take(self, address: str) -> Callable[[], None]:
        """Take a place, and give what gives it back, once however often it is called; raises Problem 429."""
        with self._lock:
            if self._taken[address] >= self._most:
                detail = f"expected at most {self._most} {self._what}"
                raise Problem(429, detail, code="too_many_waiting", headers={"Retry-After": str(RETRY_AFTER_S)})
            self._taken[address] += 1
        held = [address]
        return lambda: self._give_back(held)

    def count(self) -> int:
        """Tell how many are taken."""
        with self._lock:
            return self._taken.total()

    def _give_back(self, held: list[str]) -> None:
        with self._lock:
            if not held:
                return
            address = held.pop()
            self._taken[address] -= 1
            if not self._taken[address]:
                del self._taken[address]


def register(app: Flask, most: int, meters: Meters) -> None:
    """Give the app its places."""
    app.extensions[_METERS] = meters
    app.extensions[_EXTENSION] = Places(most)
    app.extensions[_OF_BOTS] = Places(MOST_OF_BOT, "polls of one bot that wait")


def stream() -> Callable[[], None]:
    """Take a place for a stream to who sent this request, as `Places.take`."""
    give_back, streams = _take(), _meters().streams
    streams.add()
    held = [streams]

    def close() -> None:
        give_back()
        if held:
            held.pop().add(by=-1)

    return close


def _take() -> Callable[[], None]:
    return cast("Places", current_app.extensions[_EXTENSION]).take(limits.address())


def _meters() -> Meters:
    return cast("Meters", current_app.extensions[_METERS])


@contextmanager
def place(seconds: float, bot_id: str | None = None) -> Iterator[None]:
    """Hold a place for a request that would wait so long, and one of the bot that it is for; none if it wouldn't."""
    if seconds <= 0:
        yield
        return
    polls = _meters().polls
    with ExitStack() as places:
        places.callback(_take())
        if bot_id is not None:
            places.callback(cast("Places", current_app.extensions[_OF_BOTS]).take(bot_id))
        polls.add()
        began = perf_counter()
        try:
            yield
        finally:
            polls.add(by=-1)
            measuring.waited(perf_counter() - began)
