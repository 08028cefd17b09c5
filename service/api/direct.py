"""Writes to a client past the server, which stands by meanwhile: for who has the same bytes for a thousand clients.

The server is our gunicorn, whose sockets never block; others don't tell of their socket, and are written to as ever.
"""

from __future__ import annotations

import os
import socket
import ssl
from typing import Any, Final, Self

_SOCKET: Final = "gunicorn.socket"
_DIRECT: Final = "slagveld.direct"


def chunk(data: bytes) -> bytes:
    """Give a chunk of an HTTP/1.1 body whose length isn't known."""
    return b"%X\r\n%b\r\n" % (len(data), data)


def has_left(environ: dict[str, Any]) -> bool:
    """Tell whether who sent a request has closed the connection since; False where that can't be seen."""
    sock = environ.get(_SOCKET)
    if sock is None or isinstance(sock, ssl.SSLSocket):
        return False
    plain: socket.socket = getattr(sock, "_sock", sock)  # gevent's own would wait for something to read
    try:
        return plain.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:  # it broke
        return True


class Direct:
    """One client that is being answered in chunks. Only while the server waits for the answer's next part."""

    def __init__(self, sock: socket.socket) -> None:
        """Keep the client's socket."""
        self._number = sock.fileno()
        self._sock = sock
        self._written = 0

    @classmethod
    def of(cls, environ: dict[str, Any]) -> Self | None:
        """Give who sent a request, if what is written to him is what he reads: no TLS, and chunks."""
        sock = environ.get(_SOCKET)
        if sock is None or isinstance(sock, ssl.SSLSocket) or environ["SERVER_PROTOCOL"] != "HTTP/1.1":
            return None
        direct = environ[_DIRECT] = cls(sock)
        return direct

    @staticmethod
    def written(environ: dict[str, Any]) -> int:
        """Tell how many bytes were written to who sent a request past the server."""
        direct: Direct | None = environ.get(_DIRECT)
        return 0 if direct is None else direct._written  # noqa: SLF001 - one of ours

    def write(self, data: bytes) -> int:
        """Give how many bytes were taken at once; none if he is gone, which `finish` tells."""
        if self._sock.fileno() != self._number:  # closed: the number may be somebody else's by now
            return 0
        try:
            taken = os.write(self._number, data)
        except OSError:
            return 0
        self._written += taken
        return taken

    def finish(self, data: bytes) -> None:
        """Write all of it, however long that takes; raises OSError once nobody is there any more."""
        self._sock.sendall(data)
        self._written += len(data)
