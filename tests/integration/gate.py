"""Holds back what bots answer, so that a test sees what it must see before the work goes on, however quick it is."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path


class Gate:
    """A file `held` in a folder of bots, which tells how many decisions they answer until it is gone."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "held"

    def shut(self, after: int = 0) -> None:
        """Hold back the answers to all decisions but the first `after`."""
        new = self._path.with_suffix(".new")
        new.write_text(str(after))
        new.replace(self._path)

    def open(self) -> None:
        self._path.unlink(missing_ok=True)

    def wait(self, number: int) -> None:
        """Wait, as the bot that was asked the decision of this number, until it may answer.

        Whoever asked has a deadline; this has none.
        """
        while self._held() < number:
            time.sleep(0.005)

    def _held(self) -> float:
        with contextlib.suppress(FileNotFoundError):  # nothing is held
            return int(self._path.read_text())
        return float("inf")
