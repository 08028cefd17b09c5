"""Takes a snapshot of a server over its socket: asks for it as a replica does, and goes away when it has it.

So it is of one moment, nobody is kept waiting for it, and no shell on the server is needed; a server that doesn't let
its users replicate can't be asked this way. What the snapshot holds isn't looked at.
"""

from __future__ import annotations

import contextlib
import re
import time
from typing import TYPE_CHECKING, BinaryIO, Protocol, cast

from redis import ResponseError

from service.store.connection import connect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SILENCE_S = 60.0
"""How long the server may say nothing. While it prepares, it sends a line break now and then."""
BEGIN_S = 900.0
"""How long it may prepare: it waits for replicas to gather, and for a rewrite of its log to end."""
_BLOCK = 1 << 20
_LONGEST_HEAD = 1_000
_BY_LENGTH = re.compile(rb"\$(\d{1,18})")
_BY_MARK = re.compile(rb"\$EOF:([0-9a-f]{40})")


class SnapshotError(Exception):
    """The server gives no snapshot, or not all of it; the message says why."""


class Source(Protocol):
    """The part of a socket that is needed."""

    def recv(self, most: int) -> bytes:
        """Wait for bytes; raises TimeoutError."""


def receive(url: str, into: BinaryIO, told: Callable[[int], object] = lambda _: None) -> int:
    """Write the snapshot of the server at `url` (all its databases, RDB) to a file; give its length in bytes.

    `told` hears of the bytes so far. Raises SnapshotError, and redis-py's errors if the server can't be reached.
    """
    client = connect(url, max_connections=1, socket_timeout_s=SILENCE_S, retries=0)
    connection = client.connection_pool.get_connection()
    try:
        with contextlib.suppress(ResponseError):  # one that doesn't know it sends the length instead
            connection.send_command("REPLCONF", "capa", "eof")  # type: ignore[no-untyped-call]  # redis-py's connection
            connection.read_response()
        connection.send_command("SYNC")  # type: ignore[no-untyped-call]  # as above
        return copied(cast("Source", connection._sock), into, told)  # noqa: SLF001 - what follows is no reply
    finally:
        connection.disconnect()  # type: ignore[no-untyped-call]  # as above
        client.close()


def copied(source: Source, into: BinaryIO, told: Callable[[int], object], *, begin_s: float = BEGIN_S) -> int:
    """Copy a snapshot from the answer to SYNC; give its length. Raises SnapshotError."""
    head = _head(source, time.monotonic() + begin_s)
    if found := _BY_LENGTH.fullmatch(head):
        blocks = _counted(source, int(found[1]))
    elif found := _BY_MARK.fullmatch(head):
        blocks = _marked(source, found[1])
    else:
        raise SnapshotError(f"the store gives no snapshot: {head.decode(errors='replace').lstrip('-')}")
    length = 0
    for block in blocks:
        length += into.write(block)
        told(length)
    return length


def _head(source: Source, ends: float) -> bytes:
    """Give the first line that isn't empty."""
    line = b""
    while not line.endswith(b"\n") or not line.strip():
        if time.monotonic() > ends or len(line) > _LONGEST_HEAD:
            raise SnapshotError("the store was asked for a snapshot and doesn't begin")
        line = line.lstrip() + _some(source, 1)
    return line.strip()


def _counted(source: Source, length: int) -> Iterator[bytes]:
    while length:
        block = _some(source, min(length, _BLOCK))
        length -= len(block)
        yield block


def _marked(source: Source, mark: bytes) -> Iterator[bytes]:
    held = b""
    while (at := held.find(mark)) < 0:
        sure = max(0, len(held) - len(mark) + 1)
        yield held[:sure]
        held = held[sure:] + _some(source, _BLOCK)
    yield held[:at]


def _some(source: Source, most: int) -> bytes:
    try:
        found = source.recv(most)
    except TimeoutError:
        raise SnapshotError(f"the store fell silent for {SILENCE_S:.0f} s in the middle of its snapshot") from None
    except OSError as error:
        raise SnapshotError(f"the connection to the store broke in the middle of its snapshot: {error}") from error
    if not found:
        raise SnapshotError("the store closed the connection in the middle of its snapshot; try again")
    return found
