"""What the process that asks for games and those that play them say to each other, a line of JSON each."""

from __future__ import annotations

import mmap
import struct
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import msgspec

from bot_sdk.events import Outcome
from bot_sdk.games.record import SeatShown
from bot_sdk.local import Answered

_AT: Final = struct.Struct("<Qii")
NOWHERE: Final = -1


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What a process is started for: all of a match but its number of games.

    `bots` are FILE:bot, house:NAME or URLs, one for each player; they sit down in turn at `seats`. What the bot at
    `debug_seat` answers is told with each game.
    """

    ruleset: str
    options: dict[str, Any]
    budget_ms: int
    first_budget_ms: int
    max_faults: int
    bots: list[str]
    seats: int
    seed: str
    debug_seat: int | None = None


class Verdict(msgspec.Struct, frozen=True):
    """How a decision went that took its process down: it isn't asked again."""

    outcome: Outcome
    ms: float


def verdict_key(seat: int, number: int) -> str:
    """Name the decision `number` of a seat within a game."""
    return f"{seat}.{number}"


class Task(msgspec.Struct, frozen=True):
    """Asks for one game of the match, by its number from 0; `verdicts` are by `verdict_key`."""

    number: int
    verdicts: dict[str, Verdict] = {}


class Ready(msgspec.Struct, frozen=True, tag=True):
    """The bots are loaded, and so they are shown in records."""

    players: list[SeatShown]


class Refused(msgspec.Struct, frozen=True, tag=True):
    """The bots can't be loaded or can't play this."""

    error: str


class Done(msgspec.Struct, frozen=True, tag=True):
    """A game was played; `answers` are those of the seat that is looked into, decision by decision."""

    number: int
    record: msgspec.Raw
    answers: list[Answered] = []


Told = Ready | Refused | Done


class Reached(NamedTuple):
    """How far a process has come: `steps` counts whatever it did, `seat` is asked for its decision `number`."""

    steps: int
    seat: int
    number: int


class Mark:
    """Where a process is, in memory that it shares with the one that waits for it.

    A process that dies, or hangs in code that never lets the interpreter go, can't say any more where that was.
    Readers may meet it half written: they take it for what it was or will be, since they look again.
    """

    def __init__(self, path: Path) -> None:
        """Share the memory of a file that was made."""
        with path.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), _AT.size)
        self._path = path
        self._steps = 0

    @classmethod
    def make(cls) -> Self:
        """Make a file that carries the memory."""
        with tempfile.NamedTemporaryFile(prefix="slagbot-", delete=False) as file:
            file.write(_AT.pack(0, NOWHERE, NOWHERE))
        return cls(Path(file.name))

    @property
    def path(self) -> Path:
        """Where the file is, until both sides share it."""
        return self._path

    def forget(self) -> None:
        """Remove the file, which nobody needs once both sides share its memory; where that is forbidden, not yet."""
        with suppress(OSError):  # Windows keeps what is open
            self._path.unlink()

    def set(self, seat: int = NOWHERE, number: int = NOWHERE) -> None:
        """Say that `seat` is being asked for its decision `number`; without them, that something else is done."""
        self._steps += 1
        _AT.pack_into(self._memory, 0, self._steps, seat, number)

    def read(self) -> Reached:
        """See how far the process has come."""
        return Reached(*_AT.unpack_from(self._memory))

    def close(self) -> None:
        """Give the memory back, and the file if it is still there."""
        self._memory.close()
        self.forget()
