"""``slagbot new``: a folder to begin with."""

from __future__ import annotations

import secrets
from importlib.metadata import version
from pathlib import Path

import click

from bot_sdk import starter
from bot_sdk.commands.common import as_usage_errors, json_option, print_json


@click.command()
@click.argument("name")
@click.option("--lang", type=click.Choice(starter.LANGUAGES), default="python", show_default=True)
@json_option
@as_usage_errors
def new(name: str, lang: str, *, as_json: bool) -> None:
    """Make a folder NAME with a bot, its test, a README, a Dockerfile and a secret."""
    folder = Path(name)
    files = starter.create(folder, lang, random=secrets.token_bytes(32), version=version("slagveld"))
    if as_json:
        print_json({"files": [str(file) for file in files]})
        return
    for file in files:
        click.echo(f"made {file}")
    click.echo(f"\nnext:\n{starter.next_steps(folder, lang)}")
