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
_ID = re.compile(rb"^id: (\d+)$", re.MULTILINE)


class Spectators:
    """All readers; `came` holds the moments by event."""

    def __init__(self, url: str, readers: int) -> None:
        self._url = urlsplit(url)
        self._readers = readers
        self._begun = 0
        self._door = asyncio.Semaphore(AT_ONCE)
        self.came: dict[int, list[float]] = defaultdict(list)

    async def watch(self) -> None:
        """Read until the last stream has ended."""
        async with asyncio.TaskGroup() as group:
            for _ in range(self._readers):
                group.create_task(self._read())

    async def _read(self) -> None:
        async with self._door:
            reader, writer = await asyncio.open_connection(self._url.hostname, self._url.port)
            request = f"GET {self._url.path} HTTP/1.1\r\nhost: {self._url.netloc}\r\nconnection: close\r\n\r\n"
            writer.write(request.encode())
            await reader.readuntil(b"id: 1\n")
        self.came[1].append(time.monotonic())
        self._begun += 1
        if self._begun == self._readers:
            sys.stdout.write("ready\n")
            sys.stdout.flush()
        while data := await reader.read(65536):
            now = time.monotonic()
            for found in _ID.finditer(data):
                self.came[int(found[1])].append(now)
        writer.close()


async def main(url: str, readers: int) -> None:
    spectators = Spectators(url, readers)
    await asyncio.wait_for(spectators.watch(), PATIENCE_S)
    sys.stdout.write(json.dumps(spectators.came))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
