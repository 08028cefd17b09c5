"""Bytes to and from the API as it is deployed."""

from __future__ import annotations

import re
import socket
from contextlib import suppress

from tests.service.api.serving import address_of

PATIENCE_S = 30
CLOSE = b"Host: a\r\nConnection: close\r\n"
POST = b"POST /v1/accounts HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
LONG = b"Content-Length: 44\r\n"


def connected(server):
    return socket.create_connection(address_of(server), timeout=PATIENCE_S)


def read(sock):
    """Read until the server closes the connection."""
    parts = []
    with suppress(ConnectionResetError):  # a server that has had enough closes so
        while part := sock.recv(65_536):
            parts.append(part)
    return b"".join(parts)


def told(server, raw):
    """Send bytes, and give all that comes back until the server has had enough."""
    with connected(server) as sock:
        with suppress(ConnectionError):  # it needn't hear us out
            sock.sendall(raw)
        return read(sock)


def statuses(raw):
    """Give the statuses of all answers that came."""
    return [int(status) for status in re.findall(rb"HTTP/1\.\d (\d{3}) ", raw)]


def complaints(said):
    """Give what a server has logged that it shouldn't have had to."""
    return [line.decode() for line in said if b"Traceback" in line or b" ERROR " in line]
