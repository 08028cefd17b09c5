"""A hostile server of our own, what it may answer, and calls to it."""

from __future__ import annotations

import contextlib
import gzip
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable

from bot_sdk.signing import make_secret
from service.outbound.calls import Calls
from service.outbound.http1 import HEADERS_LIMIT
from service.outbound.line import Line
from service.outbound.values import Answer, Call, Endpoint

SECRET = make_secret(bytes(range(32)))
BODY = b'{"decision_id":"gam_1.0.0","action":"play:QH"}'
SLACK_MS = 400  # what a busy machine may add to a deadline

LIMIT = 64 * 1024
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
CHUNKED = HEAD + b"transfer-encoding: chunked\r\n\r\n"


def reply(body: bytes = BODY, *headers: str, status: str = "200 OK", kind: str = "application/json") -> bytes:
    lines = [f"HTTP/1.1 {status}", f"content-type: {kind}", f"content-length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def reset(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def chunks(body, size=7):
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


BIG = b"x" * (LIMIT + 1)
BAD = {
    "html": reply(b"<html>hello", kind="text/html"),
    "no content type": b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}",
    "two content types": reply(BODY, "content-type: text/html", kind="text/html"),
    "no http at all": b"hello, is this a web server?\r\n",
    "gzip though not asked for": reply(gzip.compress(BODY), "content-encoding: gzip"),
    "gzip as a transfer coding": HEAD + b"transfer-encoding: gzip, chunked\r\n\r\n" + chunks(gzip.compress(BODY)),
    "a body that is too long": reply(BIG),
    "chunks that are too long": CHUNKED + chunks(BIG, 1000),
    "the promise of 100 MB": HEAD + b"content-length: 100000000\r\n\r\n",
    "a length over 2^64": HEAD + b"content-length: 100000000000000000000000\r\n\r\n",
    "a length below 0": HEAD + b"content-length: -1\r\n\r\n",
    "two lengths": reply(BODY, "content-length: 3"),
    "a length and chunks": HEAD + b"content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n" + chunks(BODY),
    "a chunk over 2^64": CHUNKED + b"10000000000000002\r\n{}\r\n0\r\n\r\n",
    "a chunk size in words": CHUNKED + b"two\r\n{}\r\n0\r\n\r\n",
    "long headers": HEAD + b"x: " + b"y" * 200_000 + b"\r\n\r\n",
    "many headers": HEAD + b"".join(b"x-%d: y\r\n" % n for n in range(500)) + b"content-length: 2\r\n\r\n{}",
    "trailers without end": CHUNKED + b"0\r\n" + b"x: y\r\n" * ((LIMIT + HEADERS_LIMIT) // 6),
    "endless headers": HEAD + b"x: y\r\n" * (HEADERS_LIMIT // 3),
    "interim replies without end": b"HTTP/1.1 100 Continue\r\n\r\n" * 1000,
    "bare line feeds": reply().replace(b"\r\n", b"\n"),
    "a folded header": HEAD + b"x: a\r\n b\r\ncontent-length: 2\r\n\r\n{}",
}


class Request:
    def __init__(self, raw: bytes, connection: int) -> None:
        head, _, self.body = raw.partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        self.line = first
        self.headers = dict(line.split(": ", 1) for line in lines)
        self.connection = connection


class HostileServer:
    """Plain sockets in threads. `behave(connection, request)` answers one request; True keeps the connection.

    If the server doesn't read, `behave` gets the connection as it was accepted, and no request; little fits into it.
    """

    def __init__(
        self,
        behave: Callable[[socket.socket, Request], bool | None],
        family: int = socket.AF_INET,
        *,
        tls: ssl.SSLContext | None = None,
        reads: bool = True,
    ) -> None:
        self.behave = behave
        self._reads = reads
        self.requests: list[Request] = []
        self.connections = 0
        self.stopping = threading.Event()
        self.tls = tls
        self._open: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self.serving: list[threading.Thread] = []
        host = "::1" if family == socket.AF_INET6 else "127.0.0.1"
        self._listener = socket.create_server((host, 0), family=family, backlog=128)
        if not reads:
            self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.port = self._listener.getsockname()[1]
        self.url = f"http://[{host}]:{self.port}/bot" if ":" in host else f"http://{host}:{self.port}/bot"
        self._start(self._accept)

    def _start(self, target: Callable[..., None], *args: object) -> threading.Thread:
        thread = threading.Thread(target=target, args=args)
        self._threads.append(thread)
        thread.start()
        return thread

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(connection)
            if self.stopping.is_set():  # `die` may have looked through the connections already
                connection.close()
                return
            self.serving.append(self._start(self._serve, connection, self.connections))

    def _serve(self, connection: socket.socket, number: int) -> None:
        connection.settimeout(20)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.tls:
            try:
                connection = self.tls.wrap_socket(connection, server_side=True)
            except OSError:
                return
            self._open.append(connection)  # the socket under it is detached
        with connection, contextlib.suppress(OSError):  # the caller hangs up on us
            if not self._reads:
                self.behave(connection, None)
                return
            while (request := self._read(connection, number)) is not None:
                self.requests.append(request)
                if not self.behave(connection, request):
                    return

    def _read(self, connection: socket.socket, number: int) -> Request | None:
        raw = b""
        while b"\r\n\r\n" not in raw:
            if not (data := connection.recv(65536)):
                return None
            raw += data
        head = raw.split(b"\r\n\r\n")[0].lower()
        length = int(head.partition(b"content-length: ")[2].split(b"\r\n")[0] or 0)
        while len(raw) < len(head) + 4 + length:
            if not (data := connection.recv(65536)):
                return None
            raw += data
        return Request(raw, number)

    def drip(self, connection: socket.socket, data: bytes, every_s: float = 0.1) -> None:
        for byte in data:
            connection.sendall(bytes([byte]))
            if self.stopping.wait(every_s):
                return

    def die(self) -> None:
        """Vanish as a process does: nobody listens any more, all connections end."""
        self.stopping.set()
        with contextlib.suppress(OSError):  # nobody listens any more
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in self._open:
            with contextlib.suppress(OSError):  # it has ended by itself
                socket.socket.shutdown(connection, socket.SHUT_RDWR)  # that of a TLS socket isn't for other threads

    def close(self) -> None:
        self.die()
        for thread in self._threads:
            thread.join(10)
            assert not thread.is_alive()


def call_to(url: str, budget_ms: float = 2_000, **fields: object) -> Call:
    given = {"key": 1, "body": b'{"type":"decision"}', "webhook_id": "msg_1"} | fields
    return Call(endpoint=Endpoint("bot_1", url, (SECRET,)), budget_ms=budget_ms, **given)


class OnALine(Calls):
    """Calls that ask one by one, but on a line."""

    def __init__(self, *args: object, **options: object) -> None:
        super().__init__(*args, **options)
        self._own = self.line()

    def ask(self, call: Call) -> Answer:
        self._own.submit(call)
        [answer] = gather(self._own, 1, 60)
        return answer

    def close(self, timeout_s: float = 5.0) -> None:
        super().close(timeout_s)
        self._own.close()


def gather(line: Line, number: int, timeout_s: float = 10) -> list[Answer]:
    """Wait for so many answers, and see that there are no more."""
    answers: list[Answer] = []
    ends = time.monotonic() + timeout_s
    while len(answers) < number:
        assert time.monotonic() < ends, f"{len(answers)} of {number} answers came"
        answers += line.wait(1)
    assert len(answers) == number
    return answers


def timed(calls: Calls, call: Call) -> Answer:
    """Ask, and check what holds for every call: it ends by its deadline, and tells the time truly."""
    began = time.monotonic()
    answer = calls.ask(call)
    took_ms = (time.monotonic() - began) * 1000
    assert took_ms <= call.budget_ms + SLACK_MS
    assert answer.ms <= took_ms
    if answer.outcome == "late":
        assert answer.ms >= call.budget_ms
    assert (answer.body is not None) == (answer.outcome == "ok")
    assert (answer.error is None) == (answer.outcome == "ok")
    return answer
