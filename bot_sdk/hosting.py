"""Serves a bot over HTTP: as a WSGI application, and by a threaded development server with keep-alive.

`respond` is the whole protocol of the bot's side (docs/contract.md), with ``bot_sdk/answering.py`` behind it; the rest
carries bytes to it and back.
"""

from __future__ import annotations

import json
import logging
import os
import socketserver
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, TypeAlias

import msgspec

from bot_sdk import messages, signing
from bot_sdk.answering import FAILURES, Hosted, NoSecretError, OnDecided, Served, answer

__all__ = [
    "MAX_REQUEST_BYTES",
    "Environ",
    "Hosted",
    "OnDecided",
    "OnExchanged",
    "Reply",
    "Served",
    "Server",
    "StartResponse",
    "respond",
    "serving",
    "wsgi",
]

Environ: TypeAlias = dict[str, Any]
StartResponse: TypeAlias = Callable[[str, list[tuple[str, str]]], object]

MAX_REQUEST_BYTES: Final = 4 * 1024 * 1024
"""More than 64 decisions ever take."""
IDLE_S: Final = 75.0
"""How long the development server keeps a silent connection."""

log = logging.getLogger("slagveld.bot")
_decoder: Final = msgspec.json.Decoder(messages.Request)


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP answer: a status and a JSON body; `allow` goes with 405."""

    status: HTTPStatus
    body: bytes
    allow: str | None = None


OnExchanged: TypeAlias = Callable[[bytes, Reply], None]
"""What is told of each POST that came in and of its reply, under the same terms."""


class _Refused(Exception):  # noqa: N818 - it carries a reply, it is no fault of ours
    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status = status


def respond(
    bot: Hosted,
    method: str,
    headers: Mapping[str, str],
    body: bytes,
    *,
    on_decided: OnDecided | None = None,
    now: Callable[[], float] = time.time,
    monotonic: Callable[[], float] = time.monotonic,
) -> Reply:
    """Answer one request, telling `on_decided` of every decision in it; never raises.

    GET gives the card. POST takes every message of docs/contract.md: 401 if the bot holds a secret and the signature
    doesn't fit, 400 for what is no message, 500 with the traceback on stderr if the bot's own code fails. In a batch
    a decision whose code fails is left out, the others are answered.
    """
    try:
        if method == "GET":
            return Reply(HTTPStatus.OK, messages.encode(bot.card()))
        if method != "POST":
            return Reply(
                HTTPStatus.METHOD_NOT_ALLOWED, _error(f"expected GET or POST, got {method}"), allow="GET, POST"
            )
        _authenticate(bot.secret, headers, body, now())
        return Reply(HTTPStatus.OK, answer(bot, _read(body), on_decided=on_decided, monotonic=monotonic))
    except _Refused as refused:
        return Reply(refused.status, _error(str(refused)))
    except NoSecretError as error:
        return Reply(HTTPStatus.SERVICE_UNAVAILABLE, _error(str(error)))
    except FAILURES:
        log.exception("the bot failed to answer")
        return Reply(HTTPStatus.INTERNAL_SERVER_ERROR, _error("the bot failed to answer, see its log"))


def wsgi(bot: Hosted, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
    """Answer one WSGI request; the path doesn't matter, a bot has one URL."""
    method = environ["REQUEST_METHOD"]
    try:
        body = _wsgi_body(environ) if method == "POST" else b""
    except _Refused as refused:
        reply = Reply(refused.status, _error(str(refused)))
    else:
        reply = respond(bot, method, _wsgi_headers(environ), body)
    start_response(f"{reply.status.value} {reply.status.phrase}", _headers(reply))
    return [] if method == "HEAD" else [reply.body]


class Server(ThreadingHTTPServer):
    """A development server: a thread a connection, HTTP/1.1 with keep-alive, each answer sent at once."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 256
    allow_reuse_address = os.name != "nt"  # on Windows it would let two servers have one port

    def __init__(
        self,
        bot: Hosted,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        on_decided: OnDecided | None = None,
        on_exchanged: OnExchanged | None = None,
    ) -> None:
        """Listen on an IPv4 address; port 0 takes a free one. Raises `OSError` if the address can't be had.

        `bot` may be set to another at any time: what is being answered is answered by the one before.
        """
        self.bot = bot
        self._on_decided = on_decided
        self._on_exchanged = on_exchanged
        super().__init__((host, port), _Handler)

    def respond(self, method: str, headers: Mapping[str, str], body: bytes) -> Reply:
        """Answer one request by the bot there is now; never raises."""
        reply = respond(self.bot, method, headers, body, on_decided=self._on_decided)
        if self._on_exchanged and method == "POST":
            self._on_exchanged(body, reply)
        return reply

    @property
    def url(self) -> str:
        """Where the bot is reached from this machine."""
        host, port = str(self.server_address[0]), self.server_address[1]
        return f"http://{'127.0.0.1' if host == '0.0.0.0' else host}:{port}"  # noqa: S104 - compared, not bound

    def server_bind(self) -> None:
        """Bind without looking up our own name: that can hang where DNS does."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of connections that break, callers come and go; print anything else."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


@contextmanager
def serving(bot: Hosted, host: str = "127.0.0.1", port: int = 0) -> Iterator[Server]:
    """Serve a bot in a thread for as long as the block runs."""
    with Server(bot, host, port) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join(timeout=5)


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 1 << 20  # an answer leaves in one piece
    timeout = IDLE_S

    def do_GET(self) -> None:
        self._reply(self.server.respond("GET", {}, b""))

    def do_POST(self) -> None:
        try:
            body = self.rfile.read(_length(self.headers.get("Content-Length")))
        except _Refused as refused:
            self.close_connection = True  # what follows on it is a body nobody reads
            self._reply(Reply(refused.status, _error(str(refused))))
        else:
            self._reply(self.server.respond("POST", dict(self.headers.items()), body))

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        self.close_connection = True
        if code == HTTPStatus.NOT_IMPLEMENTED:  # what the base class says to a method it has no function for
            self._reply(_no_such_method(self.command))
        else:
            self._reply(Reply(HTTPStatus(code), _error(explain or message or HTTPStatus(code).phrase)))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class named it
        log.debug(format, *args)

    def _reply(self, reply: Reply) -> None:
        self.send_response_only(reply.status)
        for name, value in _headers(reply):
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body)


def _headers(reply: Reply) -> list[tuple[str, str]]:
    headers = [("Content-Type", "application/json"), ("Content-Length", str(len(reply.body)))]
    return [*headers, ("Allow", reply.allow)] if reply.allow else headers


def _error(text: str) -> bytes:
    return json.dumps({"error": text}).encode()


def _no_such_method(method: str) -> Reply:
    return Reply(HTTPStatus.METHOD_NOT_ALLOWED, _error(f"expected GET or POST, got {method:.20}"), allow="GET, POST")


def _length(given: str | None) -> int:
    if given is None:
        raise _Refused(HTTPStatus.LENGTH_REQUIRED, "expected a Content-Length")
    if not (given.isascii() and given.isdigit()):
        raise _Refused(HTTPStatus.BAD_REQUEST, f"expected a Content-Length in bytes, got {given!r:.40}")
    if len(given) > 10 or int(given) > MAX_REQUEST_BYTES:
        raise _Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"expected at most {MAX_REQUEST_BYTES} bytes")
    return int(given)


def _wsgi_body(environ: Environ) -> bytes:
    length = _length(environ.get("CONTENT_LENGTH") or None)
    body: bytes = environ["wsgi.input"].read(length)
    return body


def _wsgi_headers(environ: Environ) -> dict[str, str]:
    return {key[5:].replace("_", "-"): value for key, value in environ.items() if key.startswith("HTTP_")}


def _authenticate(secret: str | None, headers: Mapping[str, str], body: bytes, now: float) -> None:
    if secret is None:
        return
    signing.check_secret(secret)  # ours being wrong isn't the caller's fault
    try:
        signing.verify(headers, body, [secret], now=now)
    except signing.SigningError as error:
        raise _Refused(HTTPStatus.UNAUTHORIZED, str(error)) from None


def _read(body: bytes) -> messages.Request:
    try:
        return _decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _Refused(HTTPStatus.BAD_REQUEST, f"expected a message of the bot contract: {error}") from None
