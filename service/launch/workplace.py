"""A hidden folder to work in, gone when the work is done or has failed; and files that are there as a whole or not."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path


class BackupError(Exception):
    """There is no backup, or it can't be restored; the message says why, and what was changed if anything was."""


@contextlib.contextmanager
def workplace(beside: Path, name: str) -> Iterator[Path]:
    """Give an empty folder in `beside`, so that what is made there can be moved to its place; others can't look in."""
    folder = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=beside))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def put(made: Path, place: Path) -> None:
    """Move a file to its place, in the stead of any that is there, once it is on the disk."""
    sync(made)
    made.replace(place)
    sync(place.parent)


def sync(path: Path) -> None:
    """See a file, or the names in a folder, onto the disk."""
    opened = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
