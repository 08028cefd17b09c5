"""The worker of the API's gunicorn: gevent's, which when told to stop sends home those who wait and who say nothing.

It would else be held up for the whole grace by streams, long polls, and connections kept for a next request. It imports
nothing of ours: gunicorn loads it before the process is made one of greenlets.
"""

from __future__ import annotations

import socket
from contextlib import suppress
from typing import Any, Final

import gevent
from gunicorn.workers.ggevent import GeventWorker

AGAIN_S: Final = 1.0


class ApiWorker(GeventWorker):  # type: ignore[misc]  # its library is untyped
    """Serves an application that has `send_home`, which ends its waits; see `service.wsgi.Application`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._silent: set[socket.socket] = set()

    def handle(self, listener: Any, client: socket.socket, addr: Any) -> None:
        """Serve a connection."""
        self._silent.add(client)
        try:
            super().handle(listener, client, addr)
        finally:
            self._silent.discard(client)

    def handle_request(self, listener_name: Any, req: Any, sock: socket.socket, addr: Any) -> None:
        """Answer a request; what was kept open for another ends here once we are told to stop."""
        self._silent.discard(sock)
        super().handle_request(listener_name, req, sock, addr)
        if self.alive:
            self._silent.add(sock)
        else:
            _hear_no_more(sock)

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


def _hear_no_more(sock: socket.socket) -> None:
    """Let a connection end after the requests that have arrived."""
    with suppress(OSError):  # the client was quicker
        sock.shutdown(socket.SHUT_RD)
