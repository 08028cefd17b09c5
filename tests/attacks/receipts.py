"""What a reader was told, as it was: raw bytes, with who asked for what and how far the game was."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

NOTE = "remark-of-a-bot"
SPECTATOR = None
BEFORE = -1
"""The number of events before the start, when there isn't even a deal."""


@dataclass(frozen=True)
class Receipt:
    """What an audience was told when a game had so many events.

    `name` says what it asked for. `allowed` says what of the knowledge there was then the answer may hold: `nothing`,
    the cards `new` since the last time it asked, those of the deal that is on `now`, or those of `ever`. What it hears
    again that it `said` doesn't count.
    """

    events: int
    audience: int | None
    name: tuple[Any, ...]
    raw: bytes
    allowed: str = "now"
    said: bytes = b""

    @property
    def told(self) -> bytes:
        return self.raw.replace(self.said, b"") if self.said else self.raw


class Log(logging.Handler):
    """Keeps what API and worker log, as their processes write it."""

    def __init__(self):
        super().__init__()
        self.setFormatter(logging.Formatter())  # not ours, which would cover what mustn't be said
        self.lines = []

    def emit(self, record):
        self.lines.append(self.format(record).encode())
