"""Traps that a proxy lays for what passes through it, and the connections they take hold of."""

from __future__ import annotations

import asyncio
import threading
from typing import Literal, Self

Way = Literal["up", "down"]
UP: Way = "up"
DOWN: Way = "down"
PATIENCE_S = 20.0


class Trap:
    """Catches the first piece that holds a pattern, or the reply to it; made by `Proxy.catch` and `catch_reply`.

    What is caught waits, with all that follows it on its way of its connection, for `release`, `drop` or `cut`. A piece
    is what one read found, usually what the sender wrote at once; it is held as a whole.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, way: Way, pattern: bytes, *, reply: bool) -> None:
        self._loop = loop
        self._way = way
        self._pattern = pattern
        self._held_way: Way = DOWN if reply else way
        self._is_taken = False
        self._sprung = threading.Event()
        self._verdict: asyncio.Future[str] = loop.create_future()

    def wait(self, seconds: float = PATIENCE_S) -> Self:
        """Return once something is caught: a reply only when it has come, so what it answers is done."""
        assert self._sprung.wait(seconds), f"nothing with {self._pattern!r} was caught within {seconds:g} s"
        return self

    @property
    def is_sprung(self) -> bool:
        """Whether something is caught."""
        return self._sprung.is_set()

    def release(self) -> None:
        """Let it go on."""
        self._decide("release")

    def drop(self) -> None:
        """Let it vanish; what comes after it goes on."""
        self._decide("drop")

    def cut(self) -> None:
        """Let it vanish, and close both sides of its connection."""
        self._decide("cut")

    def _decide(self, verdict: str) -> None:
        self._loop.call_soon_threadsafe(self._settle, verdict)

    def _settle(self, verdict: str) -> None:
        if not self._verdict.done():  # else its connection has ended meanwhile
            self._verdict.set_result(verdict)

    def look(self, connection: Connection, way: Way, before: bytes, piece: bytes) -> None:
        """Take hold of a connection if this piece of it is the one."""
        seen = before[len(before) - len(self._pattern) + 1 :] + piece if len(self._pattern) > 1 else piece
        if not self._is_taken and way == self._way and self._pattern in seen:
            self._is_taken = True
            connection.held[self._held_way] = self

    async def hold(self) -> str:
        """Keep a piece until it is decided what becomes of it."""
        self._sprung.set()
        return await self._verdict


class Connection:
    """A client's connection, and the one to the upstream that goes with it."""

    def __init__(self) -> None:
        self.held: dict[Way, Trap] = {}
        self.passed: dict[Way, int] = {UP: 0, DOWN: 0}
        self._sides: list[asyncio.StreamWriter] = []
        self._is_closed = False

    def add(self, side: asyncio.StreamWriter) -> asyncio.StreamWriter:
        """Note one side of it, which goes at once if the other has been closed meanwhile."""
        self._sides.append(side)
        if self._is_closed:
            side.close()
        return side

    def close(self) -> None:
        """Close both sides; what has been passed on still arrives."""
        self._is_closed = True
        for side in self._sides:
            side.close()
