"""What all commands share: where they write, how they fail, and JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar

import click
from rich.console import Console

from bot_sdk.errors import SdkError
from bot_sdk.signing import SigningError

PORT: Final = 8100
"""Where a bot is served unless said otherwise."""

P = ParamSpec("P")
R = TypeVar("R")

err: Final = Console(stderr=True, highlight=False)


def as_usage_errors(command: Callable[P, R]) -> Callable[P, R]:
    """Turn the package's errors into click's: a sentence on stderr and exit status 2."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except BrokenPipeError:
            raise  # whoever read our output has had enough of it, which click sees to
        except (SdkError, SigningError, OSError) as error:
            raise click.UsageError(str(error)) from error

    return run


json_option: Final = click.option("--json", "as_json", is_flag=True, help="Answer in JSON on stdout.")


def print_json(value: Any) -> None:
    """Write one value as a line of JSON on stdout."""
    click.echo(json.dumps(value, ensure_ascii=False))


STOPPED: Final = 130
"""The exit status of what Ctrl-C has stopped."""


def stopped_by_ctrl_c(command: Callable[P, R]) -> Callable[P, R]:
    """End a command by Ctrl-C with exit status 130, as shells expect it, and no traceback."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except KeyboardInterrupt:
            err.print("stopped")
            raise click.exceptions.Exit(STOPPED) from None

    return run
