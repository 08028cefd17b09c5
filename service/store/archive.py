"""The archive: files of what has left the store. Whatever it says is kept is on the disk before it says so.

    records/2025-01-31.jsonl           records of games that ended on that day (UTC), one a line
    tournaments/<id>.records.jsonl     the records of all games of a tournament
    tournaments/<id>.export.jsonl      its results, as the API exports them

One process at a time writes to a folder. A line that a crash cut short is taken off before the next is written: its
game is still in the store.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_BLOCK = 65_536


class ArchiveError(Exception):
    """Nothing can be kept now; the message says why and names no path."""


class BusyError(ArchiveError):
    """Another process writes to the folder."""


class Archive:
    """The files in one folder, which is made when it is first needed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from writing to the folder; raises ArchiveError, BusyError if one does now."""
        with _saying_why():
            lock = os.open(_made(self._folder) / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            with _saying_why():
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        finally:
            os.close(lock)

    def append(self, day: str, records: Sequence[bytes]) -> None:
        """Add the records of games that ended on a day; all of them are on the disk, or ArchiveError is raised."""
        with _saying_why():
            path = _made(self._folder / "records") / f"{day}.jsonl"
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                _add_whole(file, b"".join(records))
            finally:
                os.close(file)
            _sync_folder(path.parent)  # each time: whoever made the file may have died before he did

    @contextlib.contextmanager
    def draft(self, tournament_id: str, kind: str) -> Iterator[Draft]:
        """Begin a file of a tournament; it is nowhere to be seen until it is `kept`. Raises ArchiveError."""
        with _saying_why():
            draft = Draft(_made(self._folder / "tournaments"), f"{tournament_id}{{}}.{kind}.jsonl")
        try:
            yield draft
        finally:
            draft.close()


class Draft:
    """A file that comes into being as a whole."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._name = name
        self._path = folder / f"{name.format('')}.new"
        self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)

    def add(self, lines: Sequence[bytes]) -> None:
        """Write lines; raises ArchiveError."""
        with _saying_why():
            _write(self._file, b"".join(lines))

    def keep(self) -> None:
        """Put the file in its place, beside those of its name that are there; raises ArchiveError."""
        with _saying_why():
            os.fsync(self._file)
            self._path.rename(self._free())
            _sync_folder(self._folder)

    def _free(self) -> Path:
        number, path = 1, self._folder / self._name.format("")
        while path.exists():  # of a try that a crash cut short, or of a store that was set back since
            number += 1
            path = self._folder / self._name.format(f".{number}")
        return path

    def close(self) -> None:
        """Throw away what wasn't kept."""
        os.close(self._file)
        self._path.unlink(missing_ok=True)


def _made(folder: Path) -> Path:
    if not folder.is_dir():
        folder.mkdir(parents=True)
        _sync_folder(folder.parent)
    return folder


def _add_whole(file: int, data: bytes) -> None:
    end = _end_of_lines(file)
    os.ftruncate(file, end)
    os.lseek(file, end, os.SEEK_SET)
    try:
        _write(file, data)
        os.fsync(file)
    except OSError:
        os.ftruncate(file, end)
        raise


def _end_of_lines(file: int) -> int:
    """Tell where the last whole line ends."""
    end = os.fstat(file).st_size
    while end:
        start = max(0, end - _BLOCK)
        found = os.pread(file, end - start, start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0


def _write(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]


def _sync_folder(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


@contextlib.contextmanager
def _saying_why() -> Iterator[None]:
    try:
        yield
    except BlockingIOError as error:
        raise BusyError("another process writes to the archive") from error
    except OSError as error:
        raise ArchiveError(os.strerror(error.errno or errno.EIO).lower()) from error
