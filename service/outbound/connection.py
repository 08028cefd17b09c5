"""One connection to a bot: it never blocks, and says what it waits for."""

from __future__ import annotations

import select
import socket
import struct
from collections.abc import Generator
from contextlib import suppress
from selectors import EVENT_READ, EVENT_WRITE
from typing import TypeAlias, TypeVar

from service.outbound.deadline import Deadline
from service.outbound.http1 import ReplyReader

Result = TypeVar("Result")

READ = EVENT_READ
WRITE = EVENT_WRITE
Need: TypeAlias = int
"""What a step waits for: that the connection can be read or written. Past the deadline it is to be taken as well."""
Steps: TypeAlias = Generator[Need, None, Result]
"""Something done in steps: each gives what the next one waits for; who drives them, does the waiting."""

_READ = 16 * 1024
_LAST_READ = 256 * 1024  # what came while nobody looked
# Of Linux's `struct tcp_info`: the milliseconds since the last data came.
_TCP_INFO = getattr(socket, "TCP_INFO", -1)
_TCP_INFO_SIZE = 56
_LAST_DATA = struct.Struct("=I")
_LAST_DATA_AT = 52


class EndedError(Exception):
    """The connection ended before any byte of an answer: worth one more try on a fresh one."""


class Connection:
    """One connection to a bot. Whatever may have to wait is done in steps, and takes the deadline.

    `has_waited` is set by every wait, for whoever has cleared it to see. `watched` is what a selector watches it for,
    0 if none does.
    """

    __slots__ = ("_poll", "_socket", "has_waited", "idle_since", "reader", "watched")

    def __init__(self, opened: socket.socket) -> None:
        opened.settimeout(0)
        self._socket = opened
        self._poll: select.poll | None = None
        self.reader = ReplyReader()
        self.has_waited = False
        self.idle_since = 0.0
        self.watched: Need = 0

    def fileno(self) -> int:
        """Give the descriptor of the socket, -1 once it is closed."""
        return self._socket.fileno()

    def is_quiet(self) -> bool:
        """Whether an idle connection is still open and silent: no end, and no reply that nobody asked for.

        One that is watched is: whoever watches it closes it as soon as it isn't.
        """
        return bool(self.watched) or not self._poll_for(READ, 0)

    def silent_s(self) -> float:
        """Tell for how many seconds nothing has come, to some milliseconds; 0 where the kernel doesn't say."""
        try:
            told = self._socket.getsockopt(socket.IPPROTO_TCP, _TCP_INFO, _TCP_INFO_SIZE)
        except OSError:
            return 0.0
        return _LAST_DATA.unpack_from(told, _LAST_DATA_AT)[0] / 1000 if len(told) == _TCP_INFO_SIZE else 0.0

    def send(self, data: bytes, deadline: Deadline) -> Steps[None]:
        """Send all of it, though a peer that doesn't read may take it in pieces."""
        rest = memoryview(data)
        while rest:
            deadline.left()
            try:
                rest = rest[self._socket.send(rest) :]
            except BlockingIOError:
                self.has_waited = True
                yield WRITE

    def receive(self, deadline: Deadline) -> Steps[bytes]:
        """Wait for the next bytes; none mean the end."""
        while True:
            size = _LAST_READ
            if deadline.may_wait():
                self.has_waited = True
                size = _READ
                yield READ
            with suppress(BlockingIOError):  # woken for nothing, or by the deadline
                return self._socket.recv(size)

    def wait_here(self, need: Need, deadline: Deadline) -> None:
        """Wait in the thread that calls for what a step needs, or for the deadline.

        By `poll`: that is one system call a wait, where a socket with a timeout makes two.
        """
        self._poll_for(need, max(0.0, deadline.remaining))

    def _poll_for(self, need: Need, timeout_s: float) -> bool:
        if self._poll is None:
            self._poll = select.poll()
        self._poll.register(self._socket, select.POLLIN if need == READ else select.POLLOUT)
        return bool(self._poll.poll(timeout_s * 1000))

    def interrupt(self) -> None:
        """End whatever another thread waits for on this connection; it sees the end of the stream."""
        with suppress(OSError):  # it may be closed already
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close at once: nothing is flushed and no goodbye is waited for."""
        self.reader.close()
        self._socket.close()
