"""All ways to be a hostile bot: what it does with one request, and what the arena is to call it."""

from __future__ import annotations

import contextlib
import gzip
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass

from tests.service.outbound.hostile import BAD, BODY, CHUNKED, HEAD, HostileServer, Request, chunks, reply, reset

Behave = Callable[[HostileServer, socket.socket, Request], "bool | None"]

OK, LATE, UNREACHABLE, BAD_REPLY, BAD_STATUS = "ok", "late", "unreachable", "bad_reply", "bad_status"
BULK = 6_000_000  # more than the caller's socket holds


@dataclass(frozen=True)
class Kind:
    """`sent` is the size of the request; what doesn't read behaves before any request."""

    behave: Behave
    outcome: str
    sent: int = 0
    reads: bool = True


def says(answer: bytes) -> Behave:
    def behave(_server: HostileServer, connection: socket.socket, _request: Request) -> bool:
        connection.sendall(answer)
        return True

    return behave


def drips(first: bytes, then: bytes) -> Behave:
    def behave(server: HostileServer, connection: socket.socket, _request: Request) -> None:
        connection.sendall(first)
        server.drip(connection, then * 100, 0.02)

    return behave


def never_ends(first: bytes, piece: bytes) -> Behave:
    def behave(server: HostileServer, connection: socket.socket, _request: Request) -> None:
        connection.sendall(first)
        while not server.stopping.is_set():
            connection.sendall(piece)

    return behave


def ends_after(first: bytes, end: Callable[[socket.socket], None]) -> Behave:
    def behave(server: HostileServer, connection: socket.socket, _request: Request) -> None:
        connection.sendall(first)
        if first and end is reset:  # what is sent must have been read, or the reset overtakes it
            server.stopping.wait(0.2)
        end(connection)

    return behave


def waits(server: HostileServer, _connection: socket.socket, _request: Request) -> None:
    server.stopping.wait(60)


def closes(_connection: socket.socket) -> None:
    """Leave the connection to be closed."""


def drips_its_handshake(context: ssl.SSLContext) -> Behave:
    """Speak TLS a byte at a time."""

    def behave(server: HostileServer, connection: socket.socket, _request: Request) -> None:
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = context.wrap_bio(incoming, outgoing, server_side=True)
        while heard := connection.recv(65536):
            incoming.write(heard)
            with contextlib.suppress(ssl.SSLWantReadError):  # it goes on with the next bytes
                tls.do_handshake()
            server.drip(connection, outgoing.read(), 0.02)

    return behave


def _choice(action: str) -> bytes:
    return b'{"decision_id":"gam_1.0.0","action":%b}' % action.encode()


HTML = reply(b"<html>hello", kind="text/html")
REDIRECTS = {f"a redirect by {status}": status for status in (301, 302, 303, 307, 308)}
ERRORS = {f"status {status}": status for status in (201, 204, 206, 304, 400, 404, 413, 429, 500, 503, 999)}
PIECE = b"x" * 65536

# What is read as HTTP and isn't an answer to the decision.
UNREADABLE = {
    "a byte order mark": b"\xef\xbb\xbf" + BODY,
    "NaN": _choice("NaN"),
    "a number over a double": _choice("1e999"),
    "Infinity": _choice("-Infinity"),
    "30,000 levels": b"[" * 30_000 + b"]" * 30_000,
    "30,000 levels of objects": b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    "5,000 digits": _choice("1" * 5_000),
    "bad UTF-8": b'{"decision_id":"gam_1.0.0","action":"play:Q\xff"}',
    "UTF-16": BODY.decode().encode("utf-16"),
    "a lone surrogate": _choice(r'"play:Q\ud800"'),
    "two answers in a row": BODY + BODY,
    "an answer cut short": BODY[:-1],
    "nothing": b"",
    "null": b"null",
    "a list": b"[%b]" % BODY,
    "another decision": BODY.replace(b"gam_1", b"gam_2"),
    "a bomb as it is": gzip.compress(b" " * 10_000_000),
}

KINDS: dict[str, Kind] = {
    "an answer": Kind(says(reply()), OK),
    "HTTP/1.0": Kind(ends_after(reply().replace(b"HTTP/1.1", b"HTTP/1.0"), closes), OK),
    "no length": Kind(ends_after(HEAD + b"\r\n" + BODY, closes), OK),
    "an end of the idle connection": Kind(ends_after(reply(), closes), OK),
    "a reset of the idle connection": Kind(ends_after(reply(), reset), OK),
    "an unasked second answer": Kind(says(reply() + reply(_choice('"play:2C"'))), OK),
    "early hints": Kind(says(b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n" + reply()), OK),
    "silence": Kind(waits, LATE),
    "headers that drip": Kind(drips(b"", reply()), LATE),
    "a body that drips": Kind(drips(reply(b" " * 5_000)[:-5_000], b" "), LATE),
    "chunks that drip": Kind(drips(CHUNKED, chunks(b" " * 100, 1)), LATE),
    "interim replies that drip": Kind(drips(b"", b"HTTP/1.1 102 Processing\r\n\r\n"), LATE),
    "a peer that never reads": Kind(waits, LATE, sent=BULK, reads=False),
    "an end before the first byte": Kind(ends_after(b"", closes), UNREACHABLE),
    "a reset before the first byte": Kind(ends_after(b"", reset), UNREACHABLE),
    "an end before the request": Kind(ends_after(b"", closes), UNREACHABLE, reads=False),
    "a reset before the request": Kind(ends_after(b"", reset), UNREACHABLE, reads=False),
    "an end after the first byte": Kind(ends_after(b"H", closes), BAD_REPLY),
    "a reset after the first byte": Kind(ends_after(b"H", reset), BAD_REPLY),
    "an end within the body": Kind(ends_after(reply()[:-1], closes), BAD_REPLY),
    "a reset within the body": Kind(ends_after(reply()[:-1], reset), BAD_REPLY),
    "a body without end": Kind(never_ends(HEAD + b"\r\n", PIECE), BAD_REPLY),
    "100 MB": Kind(never_ends(HEAD + b"content-length: 100000000\r\n\r\n", PIECE), BAD_REPLY),
    "chunks without end": Kind(never_ends(CHUNKED, b"10000\r\n" + PIECE + b"\r\n"), BAD_REPLY),
    "empty chunks of long names": Kind(never_ends(CHUNKED, b"1;%b\r\n \r\n" % PIECE[:1_000]), BAD_REPLY),
    "interim replies that never end": Kind(never_ends(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), BAD_REPLY),
    "headers that never end": Kind(never_ends(HEAD, b"x: y\r\n"), BAD_REPLY),
    "trailers that never end": Kind(never_ends(CHUNKED + b"0\r\n", b"x: y\r\n"), BAD_REPLY),
    "a bomb": Kind(says(reply(UNREADABLE["a bomb as it is"], "content-encoding: gzip")), BAD_REPLY),
    "a switch of protocols": Kind(
        says(b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\nhi"), BAD_STATUS
    ),
    "an error that never ends": Kind(never_ends(b"HTTP/1.1 500 Oops\r\n\r\n", PIECE), BAD_STATUS),
    **{name: Kind(says(answer), BAD_REPLY) for name, answer in BAD.items()},
    **{name: Kind(says(reply(body)), BAD_REPLY) for name, body in UNREADABLE.items()},
    **{
        name: Kind(says(reply(b"{}", "location: http://169.254.169.254/", status=f"{status} x")), BAD_STATUS)
        for name, status in (REDIRECTS | ERRORS).items()
    },
}
