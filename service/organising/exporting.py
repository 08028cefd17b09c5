"""`slagveld tournament export`: results or records as the API streams them, to stdout or into a file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

import click

from bot_sdk.client import Arena
from service.organising.asking import asking, show_json

KINDS: Final = ("csv", "jsonl", "records")


@click.command()
@click.argument("tournament")
@click.option("--format", "kind", type=click.Choice(KINDS), default="csv", show_default=True,
              help="Results as CSV or JSON Lines, or the records of all games, a line each.")  # fmt: skip
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="The file to write. Default: stdout.")
@asking
def export(arena: Arena, tournament: str, kind: str, output: Path | None, *, as_json: bool) -> None:
    """Export a tournament.

    A file appears under its name once it is whole; --json then says what was written.
    """
    if as_json and output is None:
        raise click.UsageError("expected --output with --json, which says what was written")
    pieces = arena.export(arena.find_tournament(tournament), kind)
    if output is None:
        for piece in pieces:
            click.echo(piece, nl=False)
        return
    with whole(output) as file:
        for piece in pieces:
            file.write(piece)
    written = output.stat().st_size
    if as_json:
        show_json({"file": str(output), "format": kind, "bytes": written})
    else:
        click.echo(f"wrote {output}: {written:,} bytes")


@contextmanager
def whole(path: Path) -> Iterator[BinaryIO]:
    """Open a file that takes its name, or another's place, only when all of it is written and on the disk."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
