"""Starts the process that fits, waits for it with a deadline, and ends it when the worker is to stop."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from math import ceil
from time import monotonic
from typing import Final

import msgspec

from service.arena.ratings import FitError
from service.store.leaderboard import Fitted

FIT_S: Final = 120.0
LOOK_S: Final = 0.2
"""How often it is asked whether to stop."""
MOST_SAID: Final = 2_000
"""Characters of a traceback's end."""

_decode = msgspec.json.Decoder(Fitted).decode


class FitProcess:
    """Fits as `arena.ratings.Ratings` wants it, for `seconds` at most; `stopping` tells when to give up."""

    def __init__(
        self, stopping: Callable[[], bool], *, seconds: float = FIT_S, command: Sequence[str] = ("-m", "service.fit")
    ) -> None:
        """Keep how to run it; `command` is what Python runs."""
        self._stopping = stopping
        self._seconds = seconds
        self._command = [sys.executable, *command, str(ceil(seconds))]

    def __call__(self, games: Sequence[bytes]) -> Fitted | None:
        """Fit games, JSON each; None if the worker is to stop. Raises FitError."""
        with tempfile.TemporaryFile() as sent:  # a pipe would have to be filled while it is waited for
            sent.write(b"[" + b",".join(games) + b"]")
            sent.seek(0)
            with subprocess.Popen(  # noqa: S603 - our own command
                self._command, stdin=sent, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            ) as process:
                try:
                    return self._result(process)
                finally:
                    process.kill()  # as far as it still runs

    def _result(self, process: subprocess.Popen[bytes]) -> Fitted | None:
        until = monotonic() + self._seconds
        while not self._stopping():
            try:
                written, said = process.communicate(timeout=LOOK_S)
            except subprocess.TimeoutExpired as error:
                if monotonic() > until:
                    raise FitError(f"expected the fit to take {self._seconds:g} s at most, it takes longer") from error
            else:
                return _read(process.returncode, written, said)
        return None


def _read(status: int, written: bytes, said: bytes) -> Fitted:
    if status != 0:
        why = said.decode(errors="replace")[-MOST_SAID:].strip()
        raise FitError(f"expected the fit to end with status 0, got {status}: {why}")
    try:
        return _decode(written)
    except msgspec.DecodeError as error:
        raise FitError(f"expected ratings of the fit, {error}") from error
