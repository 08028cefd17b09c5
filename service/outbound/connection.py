"""One connection to a bot, read within a deadline."""

from __future__ import annotations

import select
import socket
from contextlib import suppress

from service.outbound.deadline import Deadline
from service.outbound.http1 import ReplyReader

_READ = 16 * 1024


class EndedError(Exception):
    """The connection ended before any byte of an answer: worth one more try on a fresh one."""


class Connection:
    """One connection to a bot. Everything that waits takes the deadline; nothing here waits longer.

    The socket never blocks, and is waited for by `poll`: that is one system call a wait, where a socket with a timeout
    makes two and each change of the timeout another, and each of them lets go of the interpreter. `has_waited` is
    set by every wait, for whoever has cleared it to see.
    """

    __slots__ = ("_poll", "_socket", "has_waited", "idle_since", "reader")

    def __init__(self, opened: socket.socket) -> None:
        opened.settimeout(0)
        self._socket = opened
        self._poll = select.poll()
        self._poll.register(opened, select.POLLIN)
        self.reader = ReplyReader()
        self.has_waited = False
        self.idle_since = 0.0

    def is_quiet(self) -> bool:
        """Whether an idle connection is still open and silent: no end, and no reply that nobody asked for."""
        return not self._poll.poll(0)

    def send(self, data: bytes, deadline: Deadline) -> None:
        """Send all of it, though a peer that doesn't read may take it in pieces."""
        rest = memoryview(data)
        while rest:
            deadline.left()
            try:
                rest = rest[self._socket.send(rest) :]
            except BlockingIOError:
                self._wait(select.POLLOUT, deadline)

    def receive(self, deadline: Deadline) -> bytes:
        """Wait for the next bytes; none mean the end."""
        while True:
            self._wait(select.POLLIN, deadline)
            with suppress(BlockingIOError):  # woken for nothing
                return self._socket.recv(_READ)

    def _wait(self, needs: int, deadline: Deadline) -> None:
        self.has_waited = True
        if needs == select.POLLIN:
            while not self._poll.poll(deadline.left_or_last_look() * 1000):
                pass
            return
        self._poll.modify(self._socket, needs)
        try:
            while not self._poll.poll(deadline.left() * 1000):
                pass
        finally:
            self._poll.modify(self._socket, select.POLLIN)

    def interrupt(self) -> None:
        """End whatever another thread waits for on this connection; it sees the end of the stream."""
        with suppress(OSError):  # it may be closed already
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close at once: nothing is flushed and no goodbye is waited for."""
        self.reader.close()
        self._socket.close()
