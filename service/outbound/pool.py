"""Connections to bots: opened through the guard, and kept alive between calls."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable

from service.outbound.connection import Connection
from service.outbound.deadline import Deadline
from service.outbound.guard import Guard, Place
from service.outbound.tls import TlsConnection, tls_context


def open_connection(guard: Guard, place: Place, deadline: Deadline, tls: ssl.SSLContext | None) -> Connection:
    """Connect to a judged place, with TLS if it is https; in the thread that calls, which waits.

    Raises `RefusedError`, `EndedError` if the peer hangs up during the handshake, `TimeoutError`, `OSError`.
    """
    opened = guard.connect(place, deadline)
    if not place.is_tls:
        return Connection(opened)
    try:
        connection = TlsConnection(opened, tls or tls_context(), place.target.host.rstrip("."))
        for need in connection.shake_hands(deadline):
            connection.wait_here(need, deadline)
    except BaseException:  # whatever it was, the socket is closed
        opened.close()
        raise
    return connection


class Pool:
    """Idle connections by URL, newest first; and those in use, so that a shutdown can end them.

    A connection idles for at most `idle_s` seconds, and at most `most_idle` do: the oldest goes first. Each is closed
    by `close_connection`.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], float],
        close_connection: Callable[[Connection], None] = Connection.close,
        idle_s: float = 20.0,
        most_idle: int = 256,
    ) -> None:
        self._clock = clock
        self._close = close_connection
        self._idle_s = idle_s
        self._most_idle = most_idle
        self._lock = threading.Lock()
        self._by_url: dict[str, dict[Connection, None]] = {}  # oldest first, as a set that keeps its order
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
                connection = next(reversed(connections))
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
            self._by_url.setdefault(url, {})[connection] = None
            self._idle[connection] = url
            surplus = self._take_all() if self._closed else self._surplus(now)
        for old in surplus:
            self._close(old)

    def close(self, connection: Connection) -> None:
        """Close a connection that was in use."""
        with self._lock:
            self._busy.discard(connection)
        self._close(connection)

    def drop(self, connection: Connection) -> None:
        """Close a connection if it idles here."""
        with self._lock:
            is_idle = connection in self._idle
            if is_idle:
                self._forget(connection)
        if is_idle:
            self._close(connection)

    def shut_down(self) -> None:
        """Close what idles and end what is in use; from now on nothing is kept."""
        with self._lock:
            self._closed = True
            idle, busy = self._take_all(), list(self._busy)
        for connection in idle:
            self._close(connection)
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
        del connections[connection]
        if not connections:
            del self._by_url[url]
