"""What a client is answered whose request never gets to the app, or breaks the app: a problem, as the app would.

gunicorn's own answers are HTML. Like the worker it is loaded before the process is one of greenlets.
"""

from __future__ import annotations

import json
import socket
import ssl
import time
from typing import Final

from gunicorn.http import errors

from service.api import wire

STATUS: Final[dict[type[Exception], int]] = {
    errors.LimitRequestLine: 414,
    errors.LimitRequestHeaders: 431,
    errors.ExpectationFailed: 417,
    errors.UnsupportedTransferCoding: 501,
    errors.ForbiddenProxyRequest: 403,
    errors.ConfigurationProblem: 500,
    errors.ParseException: 400,
    ssl.SSLError: 400,
}
"""By the nearest class of the error; 500 for any other."""
DETAILS: Final = {
    400: "expected an HTTP/1.1 request",
    403: "expected no proxy before us",
    414: "expected a shorter request line",
    417: "expected no other expectation than 100-continue",
    431: "expected fewer or shorter header fields",
    500: "something broke here, and it isn't your fault",
    501: "expected no transfer coding",
}
LINGER_S: Final = 1.0
"""How long in all what still arrives is read and dropped: a connection closed over unread bytes may lose the answer."""
LINGER_BYTES: Final = 1 << 20


def status_of(error: BaseException) -> int:
    """Give the status that an error of gunicorn's, or of the app's, is answered by."""
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), 500)


def answer(status: int, request_id: str) -> bytes:
    """Write the answer of that status, the last on its connection."""
    body = json.dumps(wire.problem(status, DETAILS[status])).encode()
    fields = wire.HEADERS | {
        "Content-Type": wire.PROBLEM_JSON,
        "Content-Length": str(len(body)),
        "Cache-Control": "no-store",
        wire.REQUEST_ID: request_id,
        "Connection": "close",
    }
    lines = [f"HTTP/1.1 {status} {wire.TITLES[status]}", *(f"{name}: {value}" for name, value in fields.items())]
    return "\r\n".join([*lines, "", ""]).encode() + body


def part(client: socket.socket, last: bytes) -> None:
    """Send the last bytes, and read what the client still sends for a moment; raises OSError if it is quicker."""
    client.settimeout(LINGER_S)
    client.sendall(last)
    client.shutdown(socket.SHUT_WR)
    left, ends = LINGER_BYTES, time.monotonic() + LINGER_S
    while left > 0 and (seconds := ends - time.monotonic()) > 0:
        client.settimeout(seconds)
        more = client.recv(65_536)
        if not more:
            return
        left -= len(more)
