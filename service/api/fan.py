"""Hands what happens to all who read a stream of it: one thread waits and reads for them all.

Who has read all that is known is parked: when there is more, the bytes are made once and written to one after the
other. Whoever can't take them at once is woken, and gets them, and what came meanwhile, by himself: nobody waits for
those who are slow.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic, sleep
from typing import Final, NamedTuple

from service.api.direct import Direct, chunk

HEARTBEAT: Final = b":\n\n"

Message = tuple[int, bytes]
"""The id of a message, which grows, and its data as JSON."""

log = logging.getLogger(__name__)


class Found(NamedTuple):
    """What there was to tell: the last id, the messages after an id, and whether more may come."""

    newest: int
    after: Callable[[int], Sequence[Message]]
    more: bool


Wait = Callable[[int], Found]
"""Id of the last message known -> what there is to tell once there is another, or it is time for a heartbeat."""


class _Part(NamedTuple):
    """What is written to who had seen the same, and what he has seen then."""

    seen: int
    plain: bytes
    chunk: bytes


@dataclass(slots=True, eq=False)
class Reader:
    """Who reads: the last id he has seen, and what is still to be written to him before anything else."""

    seen: int
    direct: Direct | None
    rest: bytes = b""
    woken: threading.Event = field(default_factory=threading.Event)

    def given(self, found: Found) -> bytes:
        """Give the messages that are new to him, which he has seen then; b"" if there are none."""
        if not (messages := found.after(self.seen)):
            return b""
        self.seen = messages[-1][0]
        return written(messages)

    def takes(self, part: _Part) -> bool:
        """Tell whether all of it was taken; else the rest is kept."""
        self.seen = part.seen
        if self.direct is None:
            self.rest = part.plain
        elif (written := self.direct.write(part.chunk)) < len(part.chunk):
            self.rest = part.chunk[written:]
        return not self.rest


class Fan:
    """What is told of one thing, and who reads it."""

    def __init__(self, wait: Wait, pause_s: float, found: Found) -> None:
        """Begin from what was `found` already. `pause_s` is how long to rest after messages."""
        self.readers = 0
        self._wait = wait
        self._pause_s = pause_s
        self._lock = threading.Lock()
        self._parked: set[Reader] = set()
        self._latest = found
        self._is_over = False

    def next(self, reader: Reader, ends: float) -> bytes:
        """Give what is to be written to a reader next, b"" if there will be no more or it `ends` (monotonic)."""
        while True:
            with self._lock:
                is_behind = self._latest.newest <= reader.seen  # what he found himself may be newer
                if not is_behind and (part := reader.given(self._latest)):
                    return part
                if self._is_over or ends <= monotonic():
                    return b""
                self._parked.add(reader)
            if rest := self._parked_until(reader, ends):
                if reader.direct is None:
                    return rest
                reader.direct.finish(rest)

    def _parked_until(self, reader: Reader, ends: float) -> bytes:
        try:
            reader.woken.wait(max(0.0, ends - monotonic()))
        finally:
            with self._lock:
                self._parked.discard(reader)
                rest, reader.rest = reader.rest, b""
                reader.woken.clear()
        return rest

    def turn(self) -> bool:
        """Wait for news, or for the time of a heartbeat, and tell it; returns whether more may come."""
        before = self._latest.newest
        found = self._wait(before)
        self._tell(found)
        if found.more and self._pause_s and found.newest != before:
            sleep(self._pause_s)
        return found.more

    def _tell(self, found: Found) -> None:
        parts: dict[int, _Part] = {}
        with self._lock:
            self._latest = found
            for reader in tuple(self._parked):
                part = parts.get(reader.seen)
                if part is None:
                    part = parts[reader.seen] = _part(found, reader.seen)
                if not reader.takes(part):
                    self._parked.discard(reader)
                    reader.woken.set()

    def end(self) -> None:
        """Send all readers home once they have all that is known."""
        with self._lock:
            self._is_over = True
            for reader in self._parked:
                reader.woken.set()


class Fans:
    """All fans of a process, each with a thread as long as somebody reads; `is_closed` tells when none is to last."""

    def __init__(self, is_closed: Callable[[], bool]) -> None:
        """Nobody reads yet."""
        self._is_closed = is_closed
        self._lock = threading.Lock()
        self._fans: dict[str, Fan] = {}

    def join(self, name: str, wait: Wait, pause_s: float, found: Found) -> Fan:
        """Give the fan of that name, which is there until it is left as often as it was joined, and for a while.

        A new one begins from what was `found`.
        """
        with self._lock:
            fan = self._fans.get(name)
            if fan is None:
                fan = self._fans[name] = Fan(wait, pause_s, found)
                threading.Thread(target=self._run, args=(name, fan), name="fan", daemon=True).start()
            fan.readers += 1
        return fan

    def leave(self, fan: Fan) -> None:
        """Tell that a reader has gone."""
        with self._lock:
            fan.readers -= 1

    def _run(self, name: str, fan: Fan) -> None:
        try:
            while not self._is_closed() and self._is_read(name, fan) and fan.turn():
                pass
        except Exception as error:  # noqa: BLE001 - whatever it is, who comes back is told
            log.warning("the streams of %s end early: %s: %.200s", name, type(error).__name__, error)
        finally:
            with self._lock:
                if self._fans.get(name) is fan:
                    del self._fans[name]
            fan.end()

    def _is_read(self, name: str, fan: Fan) -> bool:
        with self._lock:
            if not fan.readers:
                del self._fans[name]
            return fan.readers > 0


def written(messages: Sequence[Message]) -> bytes:
    """Write messages as a stream has them."""
    return b"".join([b"id: %d\ndata: %b\n\n" % message for message in messages])


def _part(found: Found, seen: int) -> _Part:
    messages = found.after(seen)
    plain = written(messages) if messages else HEARTBEAT
    return _Part(messages[-1][0] if messages else seen, plain, chunk(plain))
