"""Answers `GET /metrics` on a port of its own, which nothing else is served on."""

from __future__ import annotations

import logging
import socket
import sys
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

PATH: Final = "/metrics"
PATIENCE_S: Final = 5.0
"""How long a reader may be silent, or not read."""

logger: Final = logging.getLogger(__name__)

Told = Callable[[str], tuple[bytes, str]]
"""(what a reader accepts) -> the text and its content type."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, listening: socket.socket, told: Told) -> None:
        super().__init__(listening.getsockname()[:2], _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listening
        self.told = told

    def handle_error(self, request: object, client_address: object) -> None:  # noqa: ARG002 (socketserver's)
        """Say in a line of the log that a reader got no answer."""
        logger.warning("metrics weren't told to somebody: %s", sys.exception())


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = PATIENCE_S
    server_version = "slagveld"
    sys_version = ""

    def do_GET(self) -> None:
        if self.path.partition("?")[0] != PATH:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        body, content_type = self.server.told(self.headers.get("Accept", ""))
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing of each reading."""


def serve(listening: socket.socket, told: Told) -> None:
    """Answer in threads of the background, as long as the process lives.

    Several processes may share the socket: each request is answered by one of them.
    """
    listening.setblocking(False)  # noqa: FBT003 (its only argument): another process may be quicker to accept
    threading.Thread(target=_Server(listening, told).serve_forever, name="metrics", daemon=True).start()
