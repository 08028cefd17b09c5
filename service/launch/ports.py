"""The address that the API listens on: taken once by the parent, so that it stays ours while the API is restarted."""

from __future__ import annotations

import errno
import socket


class PortError(Exception):
    """The address can't be listened on; the message says why and what to do."""


def listen(host: str, port: int, *, host_by: str = "--host", port_by: str = "--port") -> socket.socket:
    """Listen on an address; port 0 takes a free one. Raises PortError, which names what they are chosen by."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        return socket.create_server((str(address[0]), int(address[1])), family=family, backlog=1024)
    except socket.gaierror as error:
        raise PortError(f"expected an address of this machine as {host_by}, got {host!r}: {error.strerror}") from error
    except OSError as error:
        raise PortError(_reason(error, host, port, port_by)) from error


def _reason(error: OSError, host: str, port: int, port_by: str) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {port} on {host} is taken; stop what uses it or choose another with {port_by}"
    if error.errno == errno.EACCES:
        return f"port {port} may not be used by this user; choose one from 1024 with {port_by}"
    return f"can't listen on {host} port {port}: {error.strerror}"


def url_of(listening: socket.socket) -> str:
    """Give the URL at which this machine reaches the socket."""
    host, port = listening.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - compared, not bound
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
