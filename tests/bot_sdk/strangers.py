"""Servers that behave as strangers do: each answers every connection with the bytes it was given, or worse."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager, suppress


@contextmanager
def answering(behave):
    """Listen; `behave(connection, number)` gets each connection, counted from 0. Gives the URL."""
    listener = socket.create_server(("127.0.0.1", 0))
    ended = threading.Event()

    def accept():
        number = 0
        while not ended.is_set():
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(connection, number), daemon=True).start()
            number += 1

    def serve(connection, number):
        with connection:
            connection.settimeout(5)
            with suppress(OSError):  # the caller may hang up on a stranger
                behave(connection, number)

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        ended.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)


def request_of(connection):
    """Read one request whole."""
    got = b""
    while b"\r\n\r\n" not in got:
        got += connection.recv(65536)
    head, _, body = got.partition(b"\r\n\r\n")
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            while len(body) < int(value):
                body += connection.recv(65536)
    return body


def reply(body, status=b"200 OK", kind=b"application/json"):
    """Write an answer."""
    head = b"HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n" % (status, kind, len(body))
    return head + body


def always(answer):
    """Answer every request with these bytes and close."""

    def behave(connection, _number):
        request_of(connection)
        connection.sendall(answer)

    return behave
