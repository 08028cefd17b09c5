"""What all commands share: where they write, how they fail and end, and JSON for programs."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from functools import wraps
from typing import Any, Final, ParamSpec, TextIO, TypeVar

import click
from rich.console import Console

from bot_sdk.errors import SdkError
from bot_sdk.plain import plain_lines
from bot_sdk.signing import SigningError

PORT: Final = 8100
"""Where a bot is served unless said otherwise."""
WIDE: Final = 1_000
"""Columns of an output that is no terminal: nothing is cut there."""
STOPPED: Final = 130
"""The exit status of what Ctrl-C has stopped."""

P = ParamSpec("P")
R = TypeVar("R")

err: Final = Console(stderr=True, highlight=False)


class Commands(click.Group):
    """Commands that Ctrl-C ends with exit status 130, as shells expect it, and no traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was asked for."""
        _write_what_can_be_written()
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            tell("stopped")
            raise click.exceptions.Exit(STOPPED) from None


def _write_what_can_be_written() -> None:
    """Write a question mark where the encoding of stdout lacks a letter, as that of a pipe on Windows does."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def as_usage_errors(command: Callable[P, R]) -> Callable[P, R]:
    """Turn the package's errors into click's: a sentence on stderr and exit status 2."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except BrokenPipeError:
            raise  # whoever read our output has had enough of it, which click sees to
        except (SdkError, SigningError, OSError) as error:
            raise click.UsageError(plain_lines(str(error))) from error

    return run


json_option: Final = click.option("--json", "as_json", is_flag=True, help="Answer in JSON on stdout.")


def print_json(value: Any, to: TextIO | None = None) -> None:
    """Write one value as a line of JSON, in ASCII, on stdout unless said otherwise."""
    click.echo(json.dumps(value), file=to)


def tell(text: str) -> None:
    """Say something on stderr: unwrapped, since commands and tokens are copied, and harmless to the terminal."""
    err.print(plain_lines(text), markup=False, emoji=False, soft_wrap=True)


def screen() -> Console:
    """Give the console for tables; names from elsewhere are no markup."""
    plain = Console(markup=False, emoji=False, highlight=False)
    return plain if plain.is_terminal else Console(markup=False, emoji=False, highlight=False, width=WIDE)


@contextmanager
def own_stdout() -> Iterator[TextIO]:
    """Give stdout for the command's own words; what a bot of this process prints in the block goes to stderr."""
    out = sys.stdout
    with redirect_stdout(sys.stderr):
        yield out
