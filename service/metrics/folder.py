"""Where the processes of one launch leave what they count, so that any of them can tell it all.

Each keeps a file of its own, written anew every second and at its end, and holds a lock as long as it lives. What those
that have ended counted is folded into one file, whoever reads next does that: so no counter goes back when a process is
replaced, however it ended, and no file stays behind. Gauges die with their process. All of it is gone with the launch.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from service.metrics.catalogue import BY_NAME
from service.metrics.tallies import Cell, merged

_DOOR: Final = "door"
_ENDED: Final = "ended"
_CELLS: Final = ".cells"
_LOCK: Final = ".lock"
_NEW: Final = ".new"


class _Ended(msgspec.Struct, frozen=True):
    """What processes counted that have ended, and the `names` of those, until their files are gone."""

    names: list[str]
    cells: list[Cell]


_encode = msgspec.msgpack.Encoder().encode
_cells = msgspec.msgpack.Decoder(list[Cell]).decode
_ended = msgspec.msgpack.Decoder(_Ended).decode


class Folder:
    """The folder of a launch as one process has it; `name` is one that no other has. One thread writes at a time."""

    def __init__(self, path: Path, name: str) -> None:
        """Say where it is; nothing is done there yet."""
        self._path = path
        self._name = name
        self._lock: int | None = None

    def make(self) -> None:
        """Make the folder if somebody has taken it away, as what tidies up does; raises OSError."""
        self._path.mkdir(mode=0o700, exist_ok=True)

    def put(self, cells: list[Cell]) -> None:
        """Leave what this process has counted so far, in the place of what it left before; raises OSError."""
        lock = self._be_there()
        new = self._path / f".{self._name}{_NEW}"
        new.write_bytes(_encode(cells))
        new.rename(self._path / f"{self._name}{_CELLS}")
        os.utime(lock)  # or what tidies up folders for temporary files would take it for forgotten

    def read(self) -> list[Cell]:
        """Give what all processes of the launch have counted; raises OSError."""
        with self._alone():
            living, ended = self._sort()
            if ended:
                self._fold(ended)
            found = [cell for name in living for cell in self._left_by(name)]
            return merged([*self._ended().cells, *found])

    def close(self) -> None:
        """Live no longer."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _be_there(self) -> int:
        """Have the others know that this process lives, anew if its lock was taken away."""
        if self._lock is None or not os.fstat(self._lock).st_nlink:
            self.close()
            with self._alone():
                self._lock = os.open(self._path / f"{self._name}{_LOCK}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return self._lock

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep the others from coming, reading and folding meanwhile."""
        door = os.open(self._path / _DOOR, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(door, fcntl.LOCK_EX)
            yield
        finally:
            os.close(door)

    def _sort(self) -> tuple[list[str], list[str]]:
        """Tell who lives and who has ended, of all that have files here."""
        living: list[str] = []
        ended: list[str] = []
        for lock in sorted(self._path.glob(f"*{_LOCK}")):
            (living if _is_held(lock) else ended).append(lock.name.removesuffix(_LOCK))
        return living, ended

    def _fold(self, names: list[str]) -> None:
        """Add to what has ended; should this process end on the way, the next one knows what it has added."""
        before = self._ended()
        left = [cell for name in names if name not in before.names for cell in self._left_by(name)]
        lasting = [cell for cell in left if (metric := BY_NAME.get(cell.name)) and metric.kind != "gauge"]
        new = self._path / f".{_ENDED}{_NEW}"
        new.write_bytes(_encode(_Ended(names, merged([*before.cells, *lasting]))))
        new.rename(self._path / _ENDED)
        for name in names:
            for file in (f".{name}{_NEW}", f"{name}{_CELLS}", f"{name}{_LOCK}"):
                (self._path / file).unlink(missing_ok=True)  # the lock last: while it is there the name is known

    def _ended(self) -> _Ended:
        try:
            return _ended((self._path / _ENDED).read_bytes())
        except FileNotFoundError:
            return _Ended([], [])

    def _left_by(self, name: str) -> list[Cell]:
        try:
            return _cells((self._path / f"{name}{_CELLS}").read_bytes())
        except FileNotFoundError:  # it has just come
            return []


def _is_held(lock: Path) -> bool:
    opened = os.open(lock, os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(opened)
    return False
