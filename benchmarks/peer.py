"""Drives a peer's process: starts it in the environment that ``make bench`` keeps for peers, and asks it for rounds."""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Final, Self

ROOT: Final = Path(__file__).parents[1]
START_S: Final = 120.0
ROUND_S: Final = 300.0


class PeerError(Exception):
    """A peer can't be measured here; the message says why."""


def peers_python() -> Path:
    """Give the interpreter that has the peers: of ``SLAGVELD_PEERS``, a folder, or of ``.venv-peers``."""
    return Path(os.environ.get("SLAGVELD_PEERS", ROOT / ".venv-peers")) / "bin/python"


class Peer:
    """A peer's process that plays a round when told; use it in a ``with``.

    `script` is a module of `benchmarks.peers` that calls `rounds.serve`, `package` what it must be able to import.
    Entering raises PeerError if it can't.
    """

    def __init__(self, script: str, package: str, *arguments: str) -> None:
        """Remember what to start."""
        self._command = [str(peers_python()), "-m", f"benchmarks.peers.{script}", *arguments]
        self._package = package

    def __enter__(self) -> Self:
        self._check()
        self._process = subprocess.Popen(
            self._command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        try:
            self._read(START_S)
        except PeerError:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def round(self, size: int) -> dict[str, float]:
        """Have it play one round; give what it measured. Raises PeerError if it ended or takes minutes."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{size}\n".encode())
            self._process.stdin.flush()
        except BrokenPipeError:
            raise PeerError(f"{self._package} ended by itself") from None
        return self._read(ROUND_S)

    def _check(self) -> None:
        if not Path(self._command[0]).exists():
            raise PeerError("no environment of peers, `make bench` makes it")
        looks = [
            self._command[0],
            "-c",
            f"import importlib.util as u, sys; sys.exit(not u.find_spec({self._package!r}))",
        ]
        if subprocess.run(looks, check=False, timeout=START_S).returncode:
            raise PeerError(f"{self._package} isn't installed")

    def _read(self, within_s: float) -> dict[str, float]:
        assert self._process.stdout is not None
        ends, line = time.monotonic() + within_s, b""
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([self._process.stdout], [], [], max(0.0, ends - time.monotonic()))
            more = os.read(self._process.stdout.fileno(), 4096) if ready else b""
            if not more:
                raise PeerError(f"{self._package} gave no answer in {within_s:g} s, or ended")
            line += more
        told: dict[str, float] = json.loads(line)
        return told

    def _end(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
