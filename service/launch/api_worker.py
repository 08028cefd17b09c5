"""The worker of the API's gunicorn: gevent's, which has no patience with clients that have too much of it.

Clients that are slow to send or to read are let go after a while, those whose requests can't be read are answered a
problem, and when told to stop it sends home those who wait and who say nothing: it would else be held up for the whole
grace by streams, long polls, and connections kept for a next request. It imports of ours only what imports nothing
itself: gunicorn loads it before the process is made one of greenlets.
"""

from __future__ import annotations

import errno
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

import gevent
from gunicorn.glogging import Logger
from gunicorn.workers.ggevent import GeventWorker

from service.launch import refusals
from service.logs import about

AGAIN_S: Final = 1.0
_NOBODY_THERE: Final = {errno.ETIMEDOUT, errno.EBADF}
"""A client that vanished with an answer on its way, and one that we hear no more; gunicorn would complain of both."""


class ApiLogger(Logger):  # type: ignore[misc]  # its library is untyped
    """What gunicorn says, but for its access log: that has paths and queries, and the app tells of requests itself."""

    def access(self, resp: Any, req: Any, environ: Any, request_time: Any) -> None:
        """Say nothing."""


class ApiWorker(GeventWorker):  # type: ignore[misc]  # its library is untyped
    """Serves an application that has `send_home` and `client_s`; see `service.wsgi.Application`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._silent: set[socket.socket] = set()
        self._new: set[gevent.Greenlet] = set()

    def run(self) -> None:
        """Serve, until told to stop; what breaks a greenlet is logged like all else."""
        log_what_breaks(self.log)
        super().run()

    @contextmanager
    def timeout_ctx(self) -> Iterator[None]:
        """Limit the wait for the head of a request: the next one may come late, the first may not."""
        is_first = gevent.getcurrent() in self._new
        seconds = self.wsgi.client_s if is_first else self.cfg.keepalive
        try:
            with gevent.Timeout(seconds, exception=False):
                yield
        except OSError as error:
            if error.errno not in _NOBODY_THERE:
                raise

    def handle(self, listener: Any, client: socket.socket, addr: Any) -> None:
        """Serve a connection."""
        me = gevent.getcurrent()
        self._silent.add(client)
        self._new.add(me)
        _let_go_who_never_reads(client, self.wsgi.client_s)
        try:
            super().handle(listener, client, addr)
        finally:
            self._silent.discard(client)
            self._new.discard(me)

    def handle_request(self, listener_name: Any, req: Any, sock: socket.socket, addr: Any) -> None:
        """Answer a request; what was kept open for another ends here once we are told to stop."""
        self._silent.discard(sock)
        self._new.discard(gevent.getcurrent())
        req.body.reader = _InTime(req.body.reader, self.wsgi.client_s)
        try:
            super().handle_request(listener_name, req, sock, addr)
        except TimeoutError as error:  # nobody reads; gunicorn would complain of it, and ends the connection by this
            raise StopIteration from error
        if self.alive:
            self._silent.add(sock)
        else:
            _hear_no_more(sock)

    def handle_error(self, req: Any, client: socket.socket, addr: Any, exc: BaseException) -> None:
        """Answer what no app could, or what broke it."""
        if not isinstance(exc, Exception):  # we are told to stop
            return
        status = refusals.status_of(exc)
        request_id = about.name_request(about.request_id())  # of what broke; what can't be read has none yet
        told = {"request_id": request_id}
        if status == 500:
            self.log.error("a request broke the app: %s", getattr(req, "method", "none"), exc_info=exc, extra=told)
        else:  # what was wrong may hold a token
            self.log.info("refused a request from %s with %d: %s", addr, status, type(exc).__name__, extra=told)
        with suppress(OSError):  # the client was quicker
            refusals.part(client, refusals.answer(status, request_id))

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Stop; what needs blocking calls is done outside the signal's handler."""
        super().handle_exit(sig, frame)
        gevent.spawn(self._send_home)

    def _send_home(self) -> None:
        gevent.spawn(self.wsgi.send_home)
        while True:  # connections are accepted for another moment, and some of those say nothing either
            for sock in tuple(self._silent):
                _hear_no_more(sock)
            gevent.sleep(AGAIN_S)


class _InTime:
    """Reads a body of gunicorn's as long as there is time for it; then raises TimeoutError."""

    def __init__(self, reader: Any, seconds: float) -> None:
        self._reader = reader
        self._ends = time.monotonic() + seconds

    def read(self, size: int) -> bytes:
        left = max(0.0, self._ends - time.monotonic())
        with gevent.Timeout(left, TimeoutError("the body took too long")):
            read: bytes = self._reader.read(size)
            return read


def log_what_breaks(log: Any) -> None:
    """Have the exceptions that nobody in a greenlet catches logged; gevent would print them."""

    def tell(_context: Any, kind: Any, error: Any, trace: Any) -> None:
        log.error("a greenlet broke", exc_info=(kind, error, trace))

    gevent.get_hub().print_exception = tell


def _let_go_who_never_reads(client: socket.socket, seconds: float) -> None:
    """Have the system end the connection once nothing sent has been taken for that long; Linux alone knows how."""
    option = getattr(socket, "TCP_USER_TIMEOUT", None)
    if option is not None and client.family in {socket.AF_INET, socket.AF_INET6}:
        client.setsockopt(socket.IPPROTO_TCP, option, int(seconds * 1000))


def _hear_no_more(sock: socket.socket) -> None:
    """Let a connection end after the requests that have arrived."""
    with suppress(OSError):  # the client was quicker
        sock.shutdown(socket.SHUT_RD)
