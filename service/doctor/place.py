"""Finds the store that is meant, and gives its address: one that runs, or a copy of one that doesn't.

The data of a store that doesn't run are copied and a server of ours reads the copy: one that read the data themselves
would write to them.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from bot_sdk.variables import is_given
from service.config import Settings
from service.launch import local
from service.launch.valkey import EmbeddedValkey, ValkeyError, running, socket_of
from service.launch.workplace import workplace

LOAD_S: Final = 600.0
DATA: Final = "appendonlydir"
"""Where in its folder a server keeps its data."""


BY_URL: Final = {
    "doctor": "slagveld doctor",
    "worker": "slagveld worker",
    "restore": "REDIS_URL=EMPTY slagveld restore BACKUP",
    "client": 'redis-cli -u "$REDIS_URL"',
}
"""What advice calls the commands that work on a store which REDIS_URL names."""


class Patient(NamedTuple):
    """A store to look at: the settings with which the arena works on it. `is_still`: nobody else works on it.

    `commands` are those that work on it, by what advice calls them.
    """

    settings: Settings
    is_still: bool
    commands: Mapping[str, str] = BY_URL


@contextlib.contextmanager
def found(environment: Mapping[str, str], data: Path | None, *, is_to_mend: bool = False) -> Iterator[Patient]:
    """Give the store in this folder, or the one that REDIS_URL names; the settings of `slagveld up` if it is a folder.

    One in a folder that doesn't run is started on the data themselves if it `is_to_mend`, else on a copy that is gone
    afterwards. Raises SettingsError, ValkeyError, OSError.
    """
    folder = local.folder(environment, data)
    if folder is None:
        yield Patient(Settings.from_env(environment), is_still=False)
        return
    settings = Settings.from_env({**environment, **local.unset(environment)})
    with _opened(folder, is_to_mend=is_to_mend) as (address, is_still):
        broker = settings.broker_url if is_given(environment, "SLAGVELD_BROKER_URL") else ""
        yield Patient(replace(settings, redis_url=address, broker_url=broker), is_still, by_folder(data))


def by_folder(data: Path | None) -> Mapping[str, str]:
    """Give what advice calls the commands that work on the store in a folder, on that of `slagveld up` if None."""
    option = "" if data is None else f" --data {shlex.quote(str(data))}"
    socket = shlex.quote(str(socket_of(data or local.DATA)))
    return {
        "doctor": f"slagveld doctor{option}",
        "worker": f"slagveld up{option}",
        "restore": "slagveld restore BACKUP --data fresh",
        "client": f"redis-cli -s {socket}",
    }


@contextlib.contextmanager
def _opened(folder: Path, *, is_to_mend: bool) -> Iterator[tuple[str, bool]]:
    """Give the address of the folder's store, and whether nobody but us works on it."""
    url = running(folder)
    if url is not None:
        yield url, False
        return
    kept = folder / EmbeddedValkey.FOLDER
    if not (kept / DATA).is_dir():
        raise ValkeyError(f"expected the folder of an arena, there is none in {folder}; set REDIS_URL or --data")
    if is_to_mend:
        with EmbeddedValkey(folder) as server:
            yield server.url, True
        return
    with workplace(Path(tempfile.gettempdir()), "doctor") as place:
        with _nobody_uses(kept):
            _copy(kept / DATA, place / EmbeddedValkey.FOLDER / DATA)
        with EmbeddedValkey(place) as server:
            server.start(LOAD_S)
            yield server.url, True


def _copy(kept: Path, place: Path) -> None:
    """Copy the files in a folder, whose they are and who may write to them left aside: the copy is ours."""
    place.mkdir(parents=True)
    for file in kept.iterdir():
        if file.is_file():
            shutil.copyfile(file, place / file.name)


@contextlib.contextmanager
def _nobody_uses(kept: Path) -> Iterator[None]:
    """See to it that no server begins to write to the data meanwhile; raises ValkeyError if one does already.

    Others who only read them may do so at the same time.
    """
    try:
        lock = os.open(kept / "lock", os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:  # restored, and never run
        yield
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise ValkeyError(f"a server uses the data in {kept} and doesn't answer yet; try again") from None
    finally:
        os.close(lock)
