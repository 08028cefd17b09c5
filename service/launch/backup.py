"""Backup and restore: one file holds all that the arena's store held at one moment, its secrets too.

The file is a snapshot (RDB) of one database, number 0. What shared the server with the arena, the jobs of its workers
among it, isn't in there: those are hints, and the sweeper finds the work again. A server of ours reads each snapshot
once before it counts as one.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from redis import Redis, RedisError

from service.config import database_of
from service.launch.valkey import EmbeddedValkey, ValkeyError
from service.launch.workplace import BackupError, put, sync, workplace
from service.store.connection import connect
from service.store.copying import CopyError, copy_all
from service.store.errors import FormError
from service.store.form import FormStore
from service.store.snapshot import SnapshotError, receive

NAME: Final = "snapshot.rdb"
MAGIC: Final = (b"REDIS", b"VALKEY")
LOAD_S: Final = 1_800.0
"""How long a server of ours may read a snapshot, and write one."""
POLL_S: Final = 0.05
TELL_EVERY_S: Final = 5.0

Tell = Callable[[str], object]


@contextlib.contextmanager
def _as_ours() -> Iterator[None]:
    try:
        yield
    except (CopyError, FormError, RedisError, SnapshotError) as error:
        raise BackupError(str(error)) from error


@_as_ours()
def backup(url: str, file: Path, tell: Tell) -> int:
    """Write the arena's store at `url`, as it is at one moment, to a file, mode 0600; give the number of its keys.

    A file that is there is replaced, at the end. Raises BackupError, ValkeyError, OSError.
    """
    with workplace(file.absolute().parent, "backup") as folder:
        snapshot = _prepared(folder)
        with snapshot.open("wb") as into:
            receive(url, into, _seldom(tell, lambda count: f"received {count / 1e6:.0f} MB"))
        tell("received a snapshot, reading it")
        with _loaded(folder) as server:
            count = _reduce(server, database_of(url))
        snapshot.chmod(0o600)
        put(snapshot, file.absolute())
        return count


@_as_ours()
def restore_into_folder(file: Path, data: Path, tell: Tell) -> int:
    """Make the data of an embedded store from a backup; give the number of its keys.

    The folder may hold other files, but no store. Raises BackupError, ValkeyError, OSError.
    """
    _check(file)
    place = data.absolute() / EmbeddedValkey.FOLDER
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise BackupError(f"expected no store in {data}, there is one; nothing was changed")
    data.mkdir(parents=True, exist_ok=True)
    with workplace(data.absolute(), "restore") as folder:
        snapshot = _prepared(folder)
        shutil.copyfile(file, snapshot)
        tell("reading the backup")
        with _readable(folder, file) as server:
            count = _log_whole(server)
        snapshot.unlink()
        with EmbeddedValkey(folder) as server:
            server.start(LOAD_S)
        made = folder / EmbeddedValkey.FOLDER
        for left in made.iterdir():
            if left.is_file():  # what tells of the servers that ran here; the data are in a folder
                left.unlink()
        sync(made)
        made.rename(place)
        sync(place.parent)
        return count


@_as_ours()
def restore_into_redis(file: Path, url: str, tell: Tell) -> int:
    """Copy a backup into the empty database at `url`; give the number of its keys.

    Raises BackupError, ValkeyError, OSError.
    """
    _check(file)
    with (
        workplace(Path(os.environ.get("TMPDIR", "/tmp")), "restore") as folder,  # noqa: S108 - made by mkdtemp
        contextlib.closing(connect(url, max_connections=1, socket_timeout_s=60.0, retries=0)) as target,
    ):
        target.ping()
        shutil.copyfile(file, _prepared(folder))
        tell("reading the backup")
        with _readable(folder, file) as server, _client(server) as source:
            return copy_all(source, target, _seldom(tell, lambda count: f"copied {count} keys"))


# --- a server of ours on a snapshot -----------------------------------------------------------------------------------


def _prepared(folder: Path) -> Path:
    """Give the path where a server in this folder looks for a snapshot."""
    inside = folder / EmbeddedValkey.FOLDER
    inside.mkdir(mode=0o700)
    return inside / NAME


@contextlib.contextmanager
def _loaded(folder: Path, refusal: str = "the store's snapshot can't be read") -> Iterator[EmbeddedValkey]:
    """Run a server that has read the snapshot in this folder; raises BackupError if it couldn't."""
    options = ("--appendonly", "no", "--dbfilename", NAME, "--databases", "10000")
    server = EmbeddedValkey(folder, options=options)
    try:
        server.start(LOAD_S)
    except ValkeyError as error:
        raise BackupError(f"{refusal}: {error}") from error
    try:
        yield server
    finally:
        server.close()


@contextlib.contextmanager
def _readable(folder: Path, file: Path) -> Iterator[EmbeddedValkey]:
    """Run a server on the backup in this folder; raises FormError if it isn't for this release to go on with."""
    with _loaded(folder, _said_of(file)) as server:
        with _client(server) as client:
            FormStore(client).check()
        yield server


@contextlib.contextmanager
def _client(server: EmbeddedValkey, database: int = 0) -> Iterator[Redis]:
    client = connect(server.url_of(database), max_connections=1, socket_timeout_s=LOAD_S, retries=0)
    try:
        yield client
    finally:
        client.close()


def _reduce(server: EmbeddedValkey, database: int) -> int:
    """Leave the arena's database alone, as number 0, and write the snapshot anew; give the number of its keys."""
    with _client(server) as client:
        client.swapdb(0, database)
        others = [int(name.removeprefix("db")) for name in client.info("keyspace") if name != "db0"]
    for other in others:
        with _client(server, other) as client:
            client.flushdb()
    with _client(server) as client:
        count = client.dbsize()
        if not count:
            raise BackupError("there is nothing in the store")
        client.save()
    return count


def _log_whole(server: EmbeddedValkey) -> int:
    """Have the server write all it holds as the log that our embedded store begins with; give the number of keys."""
    with _client(server) as client:
        count = client.dbsize()
        if not count:
            raise BackupError("there is nothing in the backup")
        client.config_set("appendonly", "yes")
        ends = time.monotonic() + LOAD_S
        while (state := client.info("persistence"))["aof_rewrite_in_progress"] or state["aof_rewrite_scheduled"]:
            if time.monotonic() > ends:
                raise BackupError("the server doesn't get done with writing its log; nothing was changed")
            time.sleep(POLL_S)
        if state["aof_last_bgrewrite_status"] != "ok":
            raise BackupError("the server can't write its log; is the disk full? nothing was changed")
    return count


# --- words ------------------------------------------------------------------------------------------------------------


def _check(file: Path) -> None:
    with file.open("rb") as opened:
        if not opened.read(8).startswith(MAGIC):
            raise BackupError(f"expected a backup as `slagveld backup` makes it, {file} is something else")


def _said_of(file: Path) -> str:
    return f"expected a whole backup, {file} is cut off or damaged; nothing was changed"


def _seldom(tell: Tell, sentence: Callable[[int], str]) -> Callable[[int], object]:
    """Tell how far it is, every few seconds."""
    last = time.monotonic()

    def told(count: int) -> None:
        nonlocal last
        if time.monotonic() - last > TELL_EVERY_S:
            last = time.monotonic()
            tell(sentence(count))

    return told
