"""HTTP to a bot with open eyes: which version it answers in, what it does with its connection, when which byte came.

For checks of a bot at a URL of the user's own choice. The arena has its own calls, with a guard against strangers.
"""

from __future__ import annotations

import io
import select
import socket
import ssl
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from email.message import Message
from http.client import HTTPException, HTTPResponse
from typing import Any, Final, cast
from urllib.parse import SplitResult, quote, urlsplit

from bot_sdk.errors import SdkError

USER_AGENT: Final = "slagbot"
_KEPT: Final = "%/?:@!$&'()*+,;=-._~"
"""What stands in a path and a query as it is; all else is written in per cents there."""
_QUICKACK: Final = getattr(socket, "TCP_QUICKACK", None)
KNOWS_QUICKACK: Final = _QUICKACK is not None
"""Whether this system can be told to acknowledge at once what it receives."""


class WireError(SdkError):
    """A URL where no bot can be."""


class BrokenError(Exception):
    """An exchange that came to no answer; what a network does besides is an `OSError`."""


class EndedError(BrokenError):
    """The connection ended before any byte of an answer."""


class UnreadableError(BrokenError):
    """What came is no whole HTTP answer."""


TROUBLE: Final = (OSError, BrokenError)
"""All that a network or a bot may do to an exchange."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a URL leads."""

    host: str
    port: int
    is_tls: bool
    target: str
    host_header: str


@dataclass(frozen=True, slots=True)
class Got:
    """One HTTP answer, whole. `version` is 10 or 11; times are in ms, since the request was sent."""

    status: int
    version: int
    headers: Message
    body: bytes
    first_byte_ms: float
    ms: float
    may_go_on: bool

    def header(self, name: str) -> str | None:
        """Give a header."""
        return self.headers.get(name)


def place_of(url: str) -> Place:
    """Read a URL; raises `WireError` for one that isn't http or https."""
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").encode("idna").decode(), parts.port
    except ValueError:
        parts, host, port = SplitResult("", "", "", "", ""), "", None
    if parts.scheme not in {"http", "https"} or not host:
        raise WireError(f"expected a URL such as 'http://127.0.0.1:8100', got {url!r:.200}")
    is_tls = parts.scheme == "https"
    target = quote(parts.path or "/", safe=_KEPT) + (f"?{quote(parts.query, safe=_KEPT)}" if parts.query else "")
    host_header = (f"[{host}]" if ":" in host else host) + ("" if port is None else f":{port}")
    return Place(host, port or (443 if is_tls else 80), is_tls, target, host_header)


class Connection:
    """One connection, which carries one request after another.

    `ask` raises `TimeoutError` at its deadline, `EndedError`, `UnreadableError`, or `OSError` if the network breaks.
    """

    def __init__(self, place: Place, timeout_s: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Connect; raises `OSError`, `TimeoutError` among them."""
        self._place = place
        self._clock = clock
        opened = socket.create_connection((place.host, place.port), timeout=timeout_s)
        try:
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if place.is_tls:
                opened = ssl.create_default_context().wrap_socket(opened, server_hostname=place.host)
        except BaseException:  # Ctrl-C too: nobody else would close it
            opened.close()
            raise
        self._socket = opened
        self.asked = 0
        """How many requests it has carried."""

    def close(self) -> None:
        """Close it."""
        self._socket.close()

    def is_open(self) -> bool:
        """Whether the other side has neither closed it nor sent what nobody asked for."""
        self._socket.settimeout(0)
        try:
            self._socket.recv(1)
        except (BlockingIOError, ssl.SSLWantReadError):
            return True
        except OSError:
            pass
        return False

    def has_come(self, timeout_s: float) -> bool:
        """Wait for the first byte of an answer, or the end; whether it has come. It isn't read."""
        return bool(select.select([self._socket], [], [], timeout_s)[0])

    def send(self, method: str, headers: dict[str, str], body: bytes, until: float) -> None:
        """Send a request in one piece."""
        lines = [
            f"{method} {self._place.target} HTTP/1.1",
            f"Host: {self._place.host_header}",
            f"User-Agent: {USER_AGENT}",
            "Accept: application/json",
            "Accept-Encoding: identity",
            *(f"{name}: {value}" for name, value in headers.items()),
        ]
        if method != "GET":
            lines.append(f"Content-Length: {len(body)}")
        self.asked += 1
        self._socket.settimeout(max(until - self._clock(), 0.001))
        self._socket.sendall("\r\n".join([*lines, "", ""]).encode("latin-1") + body)

    def receive(self, method: str, until: float, limit: int, *, acknowledge_at_once: bool = False) -> Got:
        """Take one answer, of whose body at most one byte more than `limit` is read."""
        sent_at = self._clock()
        source = _Source(self._socket, until, self._clock, acknowledge_at_once=acknowledge_at_once)
        response = HTTPResponse(cast("Any", source), method=method)  # it asks a socket for nothing but a file
        with closing(response):
            try:
                response.begin()
                body = response.read(limit + 1)
                is_cut = response.length not in {None, 0} and len(body) <= limit
                may_go_on = not response.will_close and response.isclosed()
            except (ConnectionError, HTTPException, ValueError) as error:
                if source.first_at is None:
                    raise EndedError(str(error)) from error
                raise UnreadableError(f"{type(error).__name__}: {error}") from error
        if is_cut:
            raise UnreadableError("the connection closed within the body")
        now = self._clock()
        first_at = now if source.first_at is None else source.first_at
        return Got(
            response.status,
            response.version,
            response.headers,
            body,
            1000 * (first_at - sent_at),
            1000 * (now - sent_at),
            may_go_on,
        )

    def ask(self, method: str, headers: dict[str, str], body: bytes, until: float, limit: int) -> Got:
        """Send a request and take its answer."""
        with suppress(BrokenPipeError, ConnectionResetError):  # it may have answered before it hung up
            self.send(method, headers, body, until)
        return self.receive(method, until, limit)


class _Source(io.RawIOBase):
    """A socket as the file that `HTTPResponse` reads: each wait ends at the deadline."""

    def __init__(
        self, opened: socket.socket, until: float, clock: Callable[[], float], *, acknowledge_at_once: bool
    ) -> None:
        super().__init__()
        self._socket = opened
        self._until = until
        self._clock = clock
        self._acknowledge_at_once = acknowledge_at_once
        self.first_at: float | None = None

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(self)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        if (left := self._until - self._clock()) <= 0:
            raise TimeoutError
        self._socket.settimeout(left)
        if self._acknowledge_at_once and _QUICKACK is not None:
            self._socket.setsockopt(socket.IPPROTO_TCP, _QUICKACK, 1)
        size = self._socket.recv_into(buffer)
        if size and self.first_at is None:
            self.first_at = self._clock()
        return size
