"""Connections to bots: opened through the guard, read within a deadline, kept alive between calls."""

from __future__ import annotations

import functools
import select
import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

import certifi

from service.outbound.deadline import Deadline
from service.outbound.guard import Guard, Place
from service.outbound.http1 import ReplyReader

Argument = TypeVar("Argument")
Result = TypeVar("Result")

_READ = 16 * 1024  # a whole TLS record, so that none is left half read where `poll` can't see it


class EndedError(Exception):
    """The connection ended before any byte of an answer: worth one more try on a fresh one."""


class Connection:
    """One connection to a bot. Everything that waits takes the deadline; nothing here waits longer.

    The socket never blocks, and is waited for by `poll`: that is one system call a wait, where a socket with a timeout
    makes two and each change of the timeout another, and each of them lets go of the interpreter.
    """

    __slots__ = ("_poll", "_socket", "idle_since", "reader")

    def __init__(self, opened: socket.socket) -> None:
        opened.settimeout(0)
        self._socket = opened
        self._poll = select.poll()
        self._poll.register(opened, select.POLLIN)
        self.reader = ReplyReader()
        self.idle_since = 0.0

    def is_quiet(self) -> bool:
        """Whether an idle connection is still open and silent: no end, and no reply that nobody asked for."""
        return not self._poll.poll(0)

    def shake_hands(self, deadline: Deadline) -> None:
        """Do the handshake of a TLS socket; raises `EndedError` if the peer hangs up."""
        tls = self._socket
        assert isinstance(tls, ssl.SSLSocket)  # noqa: S101 - who calls this has wrapped it
        try:
            self._patiently(lambda _: tls.do_handshake(), None, select.POLLIN, deadline)
        except (ConnectionError, ssl.SSLEOFError) as error:
            raise EndedError(f"the connection closed during the TLS handshake: {error}") from error

    def send(self, data: bytes, deadline: Deadline) -> None:
        """Send all of it, though a peer that doesn't read may take it in pieces."""
        while data:
            deadline.left()
            sent = self._patiently(self._socket.send, data, select.POLLOUT, deadline)
            data = data[sent:]

    def receive(self, deadline: Deadline) -> bytes:
        """Wait for the next bytes; none mean the end."""
        self._wait(select.POLLIN, deadline)
        return self._patiently(self._socket.recv, _READ, select.POLLIN, deadline)

    def _patiently(
        self, operation: Callable[[Argument], Result], argument: Argument, needs: int, deadline: Deadline
    ) -> Result:
        """Try an operation of the socket, again each time it is ready for what that needs."""
        while True:
            try:
                return operation(argument)
            except BlockingIOError:
                self._wait(needs, deadline)
            except ssl.SSLWantReadError:
                self._wait(select.POLLIN, deadline)
            except ssl.SSLWantWriteError:
                self._wait(select.POLLOUT, deadline)

    def _wait(self, needs: int, deadline: Deadline) -> None:
        if needs != select.POLLIN:
            self._poll.modify(self._socket, needs)
        try:
            while not self._poll.poll(deadline.left() * 1000):
                pass
        finally:
            if needs != select.POLLIN:
                self._poll.modify(self._socket, select.POLLIN)

    def interrupt(self) -> None:
        """End whatever another thread waits for on this connection; it sees the end of the stream."""
        with suppress(OSError):  # it may be closed already
            socket.socket.shutdown(self._socket, socket.SHUT_RDWR)  # that of a TLS socket isn't for other threads

    def close(self) -> None:
        """Close at once: nothing is flushed and no goodbye is waited for."""
        self.reader.close()
        self._socket.close()


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


def open_connection(guard: Guard, place: Place, deadline: Deadline, tls: ssl.SSLContext | None) -> Connection:
    """Connect to a judged place, with TLS if it is https.

    Raises `RefusedError`, `EndedError` if the peer hangs up during the handshake, `TimeoutError`, `OSError`.
    """
    opened = guard.connect(place, deadline)
    try:
        if not place.is_tls:
            return Connection(opened)
        name = place.target.host.rstrip(".")
        opened.settimeout(0)  # or a TLS socket would shake hands within `wrap_socket`
        opened = (tls or tls_context()).wrap_socket(opened, server_hostname=name, do_handshake_on_connect=False)
        connection = Connection(opened)
        connection.shake_hands(deadline)
    except BaseException:
        opened.close()
        raise
    return connection


class Pool:
    """Idle connections by URL, newest first; and those in use, so that a shutdown can end them.

    A connection idles for at most `idle_s` seconds, and at most `most_idle` do: the oldest goes first.
    """

    def __init__(self, *, clock: Callable[[], float], idle_s: float = 20.0, most_idle: int = 512) -> None:
        self._clock = clock
        self._idle_s = idle_s
        self._most_idle = most_idle
        self._lock = threading.Lock()
        self._by_url: dict[str, list[Connection]] = {}
        self._idle: dict[Connection, str] = {}  # oldest first
        self._busy: set[Connection] = set()
        self._closed = False

    def take(self, url: str) -> Connection | None:
        """Give an idle connection that is still open and silent, if there is one."""
        oldest = self._clock() - self._idle_s
        while True:
            with self._lock:
                connections = self._by_url.get(url)
                if not connections:
                    return None
                connection = connections[-1]
                self._forget(connection)
                self._busy.add(connection)
            if connection.idle_since >= oldest and connection.is_quiet():
                return connection
            self.close(connection)

    def add(self, connection: Connection) -> None:
        """Know a fresh connection that is in use."""
        with self._lock:
            self._busy.add(connection)
            closed = self._closed
        if closed:
            connection.interrupt()

    def give_back(self, url: str, connection: Connection) -> None:
        """Keep a connection for the next call to the same URL."""
        connection.idle_since = now = self._clock()
        with self._lock:
            self._busy.discard(connection)
            self._by_url.setdefault(url, []).append(connection)
            self._idle[connection] = url
            surplus = self._take_all() if self._closed else self._surplus(now)
        for old in surplus:
            old.close()

    def close(self, connection: Connection) -> None:
        """Close a connection that was in use."""
        with self._lock:
            self._busy.discard(connection)
        connection.close()

    def shut_down(self) -> None:
        """Close what idles and end what is in use; from now on nothing is kept."""
        with self._lock:
            self._closed = True
            idle, busy = self._take_all(), list(self._busy)
        for connection in idle:
            connection.close()
        for connection in busy:
            connection.interrupt()

    def _surplus(self, now: float) -> list[Connection]:
        surplus: list[Connection] = []
        for connection in self._idle:
            if len(self._idle) - len(surplus) <= self._most_idle and connection.idle_since >= now - self._idle_s:
                break
            surplus.append(connection)
        for connection in surplus:
            self._forget(connection)
        return surplus

    def _take_all(self) -> list[Connection]:
        idle = list(self._idle)
        self._idle.clear()
        self._by_url.clear()
        return idle

    def _forget(self, connection: Connection) -> None:
        url = self._idle.pop(connection)
        connections = self._by_url[url]
        connections.remove(connection)
        if not connections:
            del self._by_url[url]
