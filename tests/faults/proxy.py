"""A proxy that does to connections what networks and dying machines do, when a test says so.

It stands between a process of ours and the store, or a bot, and runs in a thread of the test. Both sides may be TCP on
loopback or unix sockets. `UP` is the way of what the client sends, `DOWN` the way back.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, TypeVar
from urllib.parse import quote

from tests.faults.traps import DOWN, PATIENCE_S, UP, Connection, Trap, Way

Address = tuple[str, int] | Path
T = TypeVar("T")
_CHUNK = 65_536


@dataclass(frozen=True)
class Weather:
    """What becomes of the bytes that go one way, on all connections."""

    delay_s: float = 0.0
    """How long each piece waits before it goes on."""
    trickle: int | None = None
    """How many bytes go on at a time, one such step every `step_s`."""
    step_s: float = 0.01
    cut_after: int | None = None
    """After how many bytes, counted from the beginning of each connection, both of its sides are closed."""
    swallow: bool = False
    """Whether they vanish, while the connection stays open."""


class Proxy:
    """Listens at an address of its own, and connects each client to `upstream`; use it in a `with`.

    `listen` is the path of a unix socket to make; without it, it is a port of the system's choosing on 127.0.0.1.
    """

    def __init__(self, upstream: Address, *, listen: Path | None = None) -> None:
        self.upstream = upstream
        """Where new connections go; it may move, as a server does that is started again elsewhere."""
        self._listen = listen
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy")
        self._listener: socket.socket | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._connections: set[Connection] = set()
        self._weather: dict[Way, Weather] = {UP: Weather(), DOWN: Weather()}
        self._traps: list[Trap] = []
        self._flows, self._admits = asyncio.Event(), asyncio.Event()
        self._turns: list[asyncio.Future[None]] = []
        self._to_reorder = 0
        self.port = 0
        """The TCP port; it stays the same over `refuse` and `heal`."""
        self.accepted = 0
        """How many connections clients have made."""

    def __enter__(self) -> Self:
        self._thread.start()
        self.heal()
        return self

    def __exit__(self, *_: object) -> None:
        self._wait_for(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE_S)
        self._loop.close()

    def redis_url(self, database: int = 0) -> str:
        """Give the address of the store behind it, as redis-py reads it."""
        if self._listen is not None:
            return f"unix://{quote(str(self._listen))}?db={database}"
        return f"redis://127.0.0.1:{self.port}/{database}"

    def http_url(self, path: str = "/") -> str:
        """Give the address of the web server behind it."""
        return f"http://127.0.0.1:{self.port}{path}"

    # --- what a test does to it ---------------------------------------------------------------------------------------

    def set(self, way: Way, **changes: Any) -> None:
        """Change the weather of a way from now on, as `Weather` has it; what isn't named stays."""
        self._do(lambda: self._weather.update({way: replace(self._weather[way], **changes)}))

    def partition(self) -> None:
        """Let nothing pass any more; connections stay open, and new ones are taken and hang."""
        self._do(self._flows.clear)

    def hang(self) -> None:
        """Take new connections from now on, but connect them to nobody."""
        self._do(self._admits.clear)

    def refuse(self) -> None:
        """Close all connections, and take no new ones."""
        self._do(self._refuse)

    def cut(self) -> None:
        """Close all connections there are."""
        self._do(self._cut)

    def reorder(self, count: int) -> None:
        """Keep the next `count` connections waiting, then connect them, the last one first."""
        self._do(lambda: setattr(self, "_to_reorder", count))

    def heal(self) -> None:
        """Let everything pass again, in good weather, and take new connections. Traps stay as they are."""
        self._do(self._heal)

    def catch(self, way: Way, pattern: bytes) -> Trap:
        """Hold the next piece with this pattern before it goes on."""
        return self._lay(Trap(self._loop, way, pattern, reply=False))

    def catch_reply(self, pattern: bytes) -> Trap:
        """Let the next piece with this pattern through to the upstream, and hold what comes back on its connection."""
        return self._lay(Trap(self._loop, UP, pattern, reply=True))

    def _lay(self, trap: Trap) -> Trap:
        self._do(lambda: self._traps.append(trap))
        return trap

    # --- its thread ---------------------------------------------------------------------------------------------------

    def _do(self, step: Callable[[], T]) -> T:
        """Do a step in the thread that the connections are in."""

        async def once() -> T:
            return step()

        return self._wait_for(once())

    def _wait_for(self, work: Awaitable[T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE_S)

    def _refuse(self) -> None:
        if self._listener is not None:
            self._loop.remove_reader(self._listener)
            self._listener.close()
            self._listener = None
        self._cut()

    def _cut(self) -> None:
        for connection in self._connections:
            connection.close()

    def _heal(self) -> None:
        self._weather = {UP: Weather(), DOWN: Weather()}
        self._flows.set()
        self._admits.set()
        if self._listener is None:
            self._listener = self._made()
            self._loop.add_reader(self._listener, self._accept)

    def _made(self) -> socket.socket:
        if self._listen is None:
            listener = socket.create_server(("127.0.0.1", self.port))
            self.port = listener.getsockname()[1]
        else:
            self._listen.unlink(missing_ok=True)
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(str(self._listen))
            listener.listen()
        listener.settimeout(0)
        return listener

    async def _end(self) -> None:
        self._refuse()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.sleep(0)  # for the transports, which close a turn later

    # --- one connection -----------------------------------------------------------------------------------------------

    def _accept(self) -> None:
        with contextlib.suppress(BlockingIOError):  # who knocked has gone again
            accepted, _ = self._listener.accept()
            self.accepted += 1
            connection = Connection()
            self._connections.add(connection)
            task = self._loop.create_task(self._serve(connection, accepted))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _serve(self, connection: Connection, accepted: socket.socket) -> None:
        try:
            with contextlib.suppress(OSError, asyncio.CancelledError):  # it's closed then, as the client will find
                reader, client = await asyncio.open_connection(sock=accepted)
                await self._converse(connection, reader, connection.add(client))
        finally:
            connection.close()
            self._connections.discard(connection)

    async def _converse(
        self, connection: Connection, reader: asyncio.StreamReader, client: asyncio.StreamWriter
    ) -> None:
        await self._turn()
        if isinstance(self.upstream, Path):
            above, server = await asyncio.open_unix_connection(self.upstream)
        else:
            above, server = await asyncio.open_connection(*self.upstream)
        connection.add(server)
        pumps = [
            asyncio.ensure_future(self._pump(connection, UP, reader, server)),
            asyncio.ensure_future(self._pump(connection, DOWN, above, client)),
        ]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)

    async def _turn(self) -> None:
        """Wait until a new connection may be made."""
        await self._admits.wait()
        await self._flows.wait()
        if self._to_reorder:
            self._to_reorder -= 1
            self._turns.append(self._loop.create_future())
            turn = self._turns[-1]
            while self._turns and not self._to_reorder:
                self._turns.pop().set_result(None)
            await turn

    async def _pump(
        self, connection: Connection, way: Way, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        before = b""
        while piece := await reader.read(_CHUNK):
            for trap in self._traps:
                trap.look(connection, way, before, piece)
            before = piece
            trap = connection.held.pop(way, None)
            verdict = "release" if trap is None else await trap.hold()
            await self._flows.wait()
            if verdict == "cut" or (verdict == "release" and await self._pass_on(connection, way, writer, piece)):
                return

    async def _pass_on(self, connection: Connection, way: Way, writer: asyncio.StreamWriter, piece: bytes) -> bool:
        """Send a piece on, as the weather has it; True if the connection is to be closed now."""
        weather = self._weather[way]
        await asyncio.sleep(weather.delay_s)
        if weather.cut_after is not None:
            piece = piece[: weather.cut_after - connection.passed[way]]
        connection.passed[way] += len(piece)
        for part in () if weather.swallow else _parts(piece, weather.trickle):
            writer.write(part)
            await writer.drain()
            if weather.trickle is not None:
                await asyncio.sleep(weather.step_s)
        return weather.cut_after is not None and connection.passed[way] >= weather.cut_after


def _parts(piece: bytes, size: int | None) -> Iterator[bytes]:
    step = size or max(len(piece), 1)
    return (piece[start : start + step] for start in range(0, len(piece), step))
