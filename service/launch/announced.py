"""Child processes that announce themselves: they print a line of JSON once they are ready, and run until SIGTERM."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from service.launch.tied import tie

STOP_S = 16.0


class AnnounceError(Exception):
    """A process ended or stayed silent instead of announcing itself; the message has its last words."""


class Announced:
    """A set of such processes; leaving it stops them all, last started first to be told. Main thread only."""

    def __init__(self, logs: Path) -> None:
        """Keep what the processes say on stderr in this folder, a file each."""
        self._logs = logs
        self._processes: list[subprocess.Popen[bytes]] = []

    def start(self, name: str, command: Sequence[str], environment: Mapping[str, str]) -> Starting:
        """Start a process; `Starting.wait` gives what it announces."""
        log = self._logs / f"{name}.log"
        with log.open("wb") as stderr:
            process = subprocess.Popen(  # noqa: S603 - our own command
                command,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=stderr,
                start_new_session=True,  # Ctrl-C in the terminal is ours: we stop them
                preexec_fn=tie(),  # noqa: PLW1509 - two system calls, no locks
            )
        self._processes.append(process)
        return Starting(name, process, log)

    def stop(self, within_s: float = STOP_S) -> bool:
        """Ask all to stop, kill what doesn't; returns whether all went by themselves."""
        ends = time.monotonic() + within_s
        for process in reversed(self._processes):
            process.terminate()
        willing = [_ends(process, ends) for process in self._processes]
        self._kill()
        return all(willing)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.stop()
        finally:  # a second Ctrl-C, while they stop
            self._kill()

    def _kill(self) -> None:
        for process in self._processes:
            with contextlib.suppress(ProcessLookupError, PermissionError):  # it has ended by itself
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(timeout=5)
            if process.stdout is not None:
                process.stdout.close()
        self._processes.clear()


class Starting:
    """A process that was started and may not be ready yet."""

    def __init__(self, name: str, process: subprocess.Popen[bytes], log: Path) -> None:
        """Remember the process and where its stderr goes."""
        self._name = name
        self._process = process
        self._log = log

    def wait(self, within_s: float) -> dict[str, Any]:
        """Return the object it announces; raises AnnounceError."""
        line = self._line(time.monotonic() + within_s)
        try:
            return dict(json.loads(line))
        except ValueError:
            raise AnnounceError(f"{self._name} didn't start: {self._last_words()}") from None

    def _line(self, ends: float) -> bytes:
        read, pipe = b"", self._process.stdout
        while pipe is not None and not read.endswith(b"\n"):
            ready, _, _ = select.select([pipe], [], [], max(0.0, ends - time.monotonic()))
            more = os.read(pipe.fileno(), 4096) if ready else b""
            if not more:
                return b""
            read += more
        return read

    def _last_words(self) -> str:
        said = self._log.read_text(errors="replace").strip()
        return said[-500:] or "it said nothing"


def _ends(process: subprocess.Popen[bytes], ends: float) -> bool:
    try:
        process.wait(timeout=max(0.0, ends - time.monotonic()))
    except subprocess.TimeoutExpired:
        return False
    return True
