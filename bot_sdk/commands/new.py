"""``slagbot new``: a folder to begin with."""

from __future__ import annotations

import secrets
from pathlib import Path

import click

from bot_sdk import starter
from bot_sdk.commands.common import as_usage_errors, json_option, print_json


@click.command()
@click.argument("name")
@json_option
@as_usage_errors
def new(name: str, *, as_json: bool) -> None:
    """Make a folder NAME with a bot, its test and a secret."""
    files = starter.create(Path(name), random=secrets.token_bytes(32))
    if as_json:
        print_json({"files": [str(file) for file in files]})
        return
    for file in files:
        click.echo(f"made {file}")
    bot = f"{name}/bot.py:bot"
    click.echo(
        f"\nnext: slagbot play {bot} house:random --ruleset seven_up\n"
        f"      slagbot check {bot}\n"
        f"      slagbot serve {bot}\n"
        f"      slagbot register {bot}   (while it is served)"
    )
