"""What the commands that speak to an arena share: which one, as whom, and its answers as JSON."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

import click
import msgspec

from bot_sdk.client import Arena, ArenaError
from bot_sdk.commands.common import as_usage_errors, json_option, print_json

ARENA: Final = "http://127.0.0.1:8000"
"""Where an arena is unless said otherwise."""

arena_option: Final = click.option(
    "--arena", envvar="SLAGVELD_ARENA", default=ARENA, show_default=True, show_envvar=True
)


def asking(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that say which arena and as whom, and the client these make as its first argument.

    What the arena refuses becomes a sentence and exit status 2.
    """

    @arena_option
    @click.option("--token", envvar="SLAGVELD_TOKEN", show_envvar=True, help="Your account's.")
    @json_option
    @wraps(command)
    @as_usage_errors
    def run(*, arena: str, token: str | None, **given: Any) -> None:
        try:
            with Arena(arena, token) as client:
                command(client, **given)
        except ArenaError as error:
            if error.code in {"token_needed", "account_needed"}:
                raise click.UsageError(f"{error}: --token or SLAGVELD_TOKEN") from error
            raise

    return run


def entering(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that say to which arena a bot goes, whose it is there and what it is called."""
    for option in reversed(
        (
            arena_option,
            click.option("--token", envvar="SLAGVELD_TOKEN", help="Your account's; without one an account is made."),
            click.option("--account", default=None, help="What to call a new account. Default: the bot's name."),
            click.option("--invite-code", envvar="SLAGVELD_INVITE_CODE", help="Where accounts are by invitation."),
            click.option("--name", default=None, help="Default: the name on the bot's card."),
        )
    ):
        command = option(command)
    return command


def print_answer(value: Any) -> None:
    """Write what an arena said as a line of JSON on stdout."""
    print_json(msgspec.to_builtins(value))
