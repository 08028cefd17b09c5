"""TLS over a connection: always verified, and driven step by step.

OpenSSL, given a socket, reads on until it has something to hand over. A peer that keeps sending what carries nothing,
tickets or updates of keys, would hold it there past any deadline. So it gets only what one read gave: between two reads
the deadline is looked at, and all that carried nothing is counted.
"""

from __future__ import annotations

import functools
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

import certifi

from service.outbound.connection import Connection, EndedError, Steps
from service.outbound.deadline import Deadline

Argument = TypeVar("Argument")
Result = TypeVar("Result")

OVERHEAD_LIMIT = 128 * 1024
_RECORD = 16 * 1024


class OverheadError(OSError):
    """More came than carries an answer, or a handshake."""


class TlsConnection(Connection):
    """A connection that speaks TLS, after `shake_hands`.

    Of the handshake, and of each answer, at most `OVERHEAD_LIMIT` bytes may come that aren't the answer's: the first
    that are more raise `OverheadError`.
    """

    __slots__ = ("_incoming", "_outgoing", "_overhead", "_tls")

    def __init__(self, opened: socket.socket, context: ssl.SSLContext, name: str) -> None:
        super().__init__(opened)
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._overhead = 0
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname=name)

    def is_quiet(self) -> bool:
        """Whether an idle connection is still open and silent, and nothing of it is left unread here either."""
        return not self._incoming.pending and super().is_quiet()

    def shake_hands(self, deadline: Deadline) -> Steps[None]:
        """Do the handshake; raises `EndedError` if the peer hangs up, `ssl.SSLError` if it isn't to be trusted."""
        try:
            yield from self._drive(lambda _: self._tls.do_handshake(), None, deadline)
        except (ConnectionError, ssl.SSLEOFError) as error:
            raise EndedError(f"the connection closed during the TLS handshake: {error}") from error
        except ssl.SSLError:
            with suppress(OSError):  # tell the peer why, if that can be done at once
                self._socket.send(self._outgoing.read())
            raise

    def send(self, data: bytes, deadline: Deadline) -> Steps[None]:
        """Send all of it, a record at a time."""
        self._overhead = 0
        rest = memoryview(data)
        while rest:
            written = yield from self._drive(self._tls.write, rest[:_RECORD], deadline)
            rest = rest[written:]

    def receive(self, deadline: Deadline) -> Steps[bytes]:
        """Wait for the next bytes of the answer; none mean the end."""
        if not self._incoming.pending:  # a read takes a whole record, so OpenSSL holds nothing back
            yield from self._read(deadline)
        try:
            data = yield from self._drive(self._tls.read, _RECORD, deadline)
        except (ssl.SSLEOFError, ssl.SSLZeroReturnError):
            return b""
        self._overhead -= len(data)
        return data

    def _drive(self, operation: Callable[[Argument], Result], argument: Argument, deadline: Deadline) -> Steps[Result]:
        """Try an operation of OpenSSL, again after each read it needs, and send what it has to say."""
        while True:
            try:
                result = operation(argument)
            except ssl.SSLWantReadError:
                yield from self._flush(deadline)
                yield from self._read(deadline)
            else:
                yield from self._flush(deadline)
                return result

    def _flush(self, deadline: Deadline) -> Steps[None]:
        if self._outgoing.pending:
            yield from super().send(self._outgoing.read(), deadline)

    def _read(self, deadline: Deadline) -> Steps[None]:
        data = yield from super().receive(deadline)
        self._overhead += len(data)
        if self._overhead > OVERHEAD_LIMIT:
            raise OverheadError(f"expected at most {OVERHEAD_LIMIT} bytes of TLS that carry nothing")
        if data:
            self._incoming.write(data)
        else:
            self._incoming.write_eof()


@functools.cache
def tls_context() -> ssl.SSLContext:
    """Give the one TLS context of this process.

    Loading the certificates costs 19 ms, which no connection should pay.
    """
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    if not context.get_ca_certs():  # a slim image without certificates of its own
        context.load_verify_locations(certifi.where())
    return context
