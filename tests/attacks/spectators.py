"""Many readers of one game's stream, in a process of their own: tells when each event came to each of them.

    python -m tests.attacks.spectators URL READERS

Prints `ready` once every stream has begun, and at the end of them one JSON object: for each id of an event the moments
(`time.monotonic`, which all processes of a machine share) at which it came.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from collections import defaultdict
from urllib.parse import urlsplit

PATIENCE_S = 120.0
AT_ONCE = 50
_ID = re.compile(rb"^id: (\d+)\n", re.MULTILINE)


class Spectators:
    """All readers; `came` holds the moments by event."""

    def __init__(self, url: str, readers: int) -> None:
        self._url = urlsplit(url)
        self._readers = readers
        self._begun = 0
        self._left = readers
        self._door = asyncio.Semaphore(AT_ONCE)
        self._over = asyncio.Event()
        self.came: dict[int, list[float]] = defaultdict(list)

    async def watch(self) -> None:
        """Read until the last stream has ended."""
        async with asyncio.TaskGroup() as group:
            for _ in range(self._readers):
                group.create_task(self._begin())
        await self._over.wait()

    async def _begin(self) -> None:
        async with self._door:
            loop = asyncio.get_running_loop()
            _, reader = await loop.create_connection(lambda: Reader(self), self._url.hostname, self._url.port)
            reader.ask(f"GET {self._url.path} HTTP/1.1\r\nhost: {self._url.netloc}\r\nconnection: close\r\n\r\n")
            await reader.begun.wait()
        self._begun += 1
        if self._begun == self._readers:
            sys.stdout.write("ready\n")
            sys.stdout.flush()

    def left(self) -> None:
        """Tell that a stream has ended."""
        self._left -= 1
        if not self._left:
            self._over.set()


class Reader(asyncio.Protocol):
    """One connection; what comes is looked at as it comes."""

    def __init__(self, spectators: Spectators) -> None:
        self._spectators = spectators
        self._came = spectators.came
        self._line = b""
        self.begun = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def ask(self, request: str) -> None:
        """Send the request."""
        self._transport.write(request.encode())

    def data_received(self, data: bytes) -> None:
        """Note the events that came, whole or in part; an id may come in two parts."""
        now = time.monotonic()
        data = self._line + data
        for found in _ID.finditer(data):
            self._came[int(found[1])].append(now)
            self.begun.set()
        self._line = data[data.rfind(b"\n") + 1 :]

    def connection_lost(self, _: Exception | None) -> None:
        self._spectators.left()


async def main(url: str, readers: int) -> None:
    spectators = Spectators(url, readers)
    await asyncio.wait_for(spectators.watch(), PATIENCE_S)
    sys.stdout.write(json.dumps(spectators.came))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
