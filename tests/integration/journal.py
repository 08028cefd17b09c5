"""What bots were asked or told, in a file that one process writes and another reads while it grows."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

WIDTH = 64
"""Bytes of a line: all are equally long, so that the size of the file tells their number."""


class Journal:
    """One id a line, the same again when it comes again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def write(self, name: str) -> None:
        """Append a line in one write, which threads and processes may do side by side."""
        os.write(self._file, f"{name:<{WIDTH - 1}}\n".encode())

    def count(self) -> int:
        """Tell how many lines there are."""
        return self._path.stat().st_size // WIDTH

    def names(self) -> Counter[str]:
        """Tell how often each id stands there."""
        return Counter(self._path.read_text().split())

    def close(self) -> None:
        os.close(self._file)
