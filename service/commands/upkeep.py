"""Commands that look after an arena, running or not: backups, and the doctor."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import click

from service.commands.telling import UsageProblem, as_sentences, tell
from service.config import Settings
from service.launch import local
from service.launch.valkey import EmbeddedValkey, running

file_argument: Final = click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
store_option: Final = click.option(
    "--data", type=click.Path(file_okay=False, path_type=Path),
    help=f"The folder of `slagveld up`, running or not. Default: the store that REDIS_URL names, else {local.DATA}.",
)  # fmt: skip


@click.command()
@file_argument
@store_option
@as_sentences
def backup(file: Path, data: Path | None) -> None:
    """Write all that the store holds at one moment to FILE; the arena may go on playing meanwhile.

    The file holds secrets. What it doesn't hold: SLAGVELD_KEY if you set it, and SLAGVELD_ARCHIVE.
    """
    from service.launch.backup import backup as write  # noqa: PLC0415 - as above

    place = _place(data)
    with _tidy():
        if isinstance(place, str):
            count = write(place, file, tell)
        elif (url := running(place)) is not None:
            count = write(url, file, tell)
        elif (place / EmbeddedValkey.FOLDER).is_dir():
            with EmbeddedValkey(place) as store:
                count = write(store.url, file, tell)
        else:
            raise UsageProblem(f"expected the folder of an arena, there is none in {place}; set REDIS_URL or --data")
    click.echo(f"{file} holds {count} keys")


@click.command()
@file_argument
@store_option
@as_sentences
def restore(file: Path, data: Path | None) -> None:
    """Fill an empty store with a backup. Start the arena on it afterwards: its games go on where they stood."""
    from service.launch.backup import restore_into_folder, restore_into_redis  # noqa: PLC0415 - as above

    place = _place(data)
    with _tidy():
        if isinstance(place, Path):
            count = restore_into_folder(file, place, tell)
        else:
            count = restore_into_redis(file, place, tell)
    click.echo(f"restored {count} keys")


@click.command()
@store_option
@click.option("--seconds", default=120.0, show_default=True, type=click.FloatRange(0.1, 86_400),
              help="How long it may look before it tells what it has seen so far.")  # fmt: skip
@click.option("--mend", is_flag=True, help="Mend what is safe to mend, then look again.")
@click.option("--drop", metavar="ID", help="Take away what is left of one thing that can't be read, then look again.")
@click.option("--json", "as_json", is_flag=True, help="Tell in JSON.")
@as_sentences
def doctor(data: Path | None, seconds: float, *, mend: bool, drop: str | None, as_json: bool) -> None:
    """Look for what is wrong with an arena, running or not, and say what to do.

    Without --mend or --drop it changes nothing.

    Exits with 0 if nothing needs anybody, 1 if something does, 2 if it couldn't look.
    """
    from service.doctor.command import run  # noqa: PLC0415 - needs what a bot author's installation lacks

    with _tidy():
        status = run(data, seconds, is_to_mend=mend, drop=drop, is_json=as_json)
    sys.exit(status)


@contextmanager
def _tidy() -> Iterator[None]:
    """Leave nothing half done behind when SIGTERM comes, as with Ctrl-C."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _place(data: Path | None) -> str | Path:
    """Give the store that is meant: its address, or the folder of an embedded one."""
    return local.folder(os.environ, data) or Settings.from_env(os.environ).redis_url
