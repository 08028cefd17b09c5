"""What the organiser's commands have in common: which arena, as whom, and how answers and refusals are shown."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, Final

import click
import msgspec
from rich.console import Console

from bot_sdk.client import Arena, ArenaError
from bot_sdk.errors import SdkError
from service.launch.report import USUAL_URL
from service.launch.signals import INTERRUPTED

WIDE: Final = 1_000
"""Columns of an output that is no terminal: nothing is cut there."""

json_option: Final = click.option("--json", "as_json", is_flag=True, help="Print the API's answer, in JSON.")


def asking(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that say which arena and as whom, and the client these make as its first argument.

    What the arena refuses becomes a sentence and exit status 1; Ctrl-C ends it quietly with 130.
    """

    @click.option("--arena", "url", envvar="SLAGVELD_ARENA", default=USUAL_URL, show_default=True, show_envvar=True)
    @click.option("--token", envvar="SLAGVELD_TOKEN", show_envvar=True, help="Your account's, or the operator's.")
    @json_option
    @wraps(command)
    def run(*, url: str, token: str | None, **given: Any) -> None:
        try:
            with Arena(url, token) as arena:
                command(arena, **given)
        except BrokenPipeError:  # who reads has had enough; click knows what to do
            raise
        except KeyboardInterrupt:
            sys.exit(INTERRUPTED)
        except (SdkError, OSError) as error:
            raise click.ClickException(sentence(error)) from error

    return run


def sentence(error: Exception) -> str:
    """Say what went wrong, in this tool's words where it is about its options."""
    if isinstance(error, ArenaError) and error.code in {"token_needed", "account_needed"}:
        return f"{error}: --token or SLAGVELD_TOKEN"
    return str(error)


def plain(answer: Any) -> Any:
    """Give an answer of the API as the JSON that it came as."""
    return msgspec.to_builtins(answer)


def show_json(value: Any) -> None:
    """Print one answer of the API as one line, at once."""
    click.echo(json.dumps(plain(value), ensure_ascii=False))


def show_list(items: list[Any]) -> None:
    """Print all pages of a list as one."""
    show_json({"items": items, "next_cursor": None})


def screen() -> Console:
    """Give the console for tables; names from elsewhere are no markup."""
    plain = Console(markup=False, emoji=False, highlight=False)
    return plain if plain.is_terminal else Console(markup=False, emoji=False, highlight=False, width=WIDE)


def tell(sentence: str) -> None:
    """Say on stderr what happens."""
    click.echo(sentence, err=True)
