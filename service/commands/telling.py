"""How commands tell the operator what happens and what is wrong: sentences for people, or lines for programs."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import click

from bot_sdk.errors import SdkError
from service.config import Settings, SettingsError
from service.launch.announced import AnnounceError
from service.launch.errors import StackError
from service.launch.ports import PortError
from service.launch.valkey import ValkeyError
from service.launch.workplace import BackupError
from service.logs import setup

P = ParamSpec("P")
R = TypeVar("R")


class UsageProblem(click.ClickException):
    """What was asked for can't be: a sentence on stderr, exit status 2."""

    exit_code = 2


def as_sentences(command: Callable[P, R]) -> Callable[P, R]:
    """Turn what the operator can mend into a sentence and an exit status."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except (SettingsError, PortError) as error:
            raise _said(UsageProblem(str(error))) from error
        except (AnnounceError, BackupError, SdkError, StackError, ValkeyError, OSError) as error:
            raise _said(click.ClickException(str(error))) from error

    return run


def _said(problem: click.ClickException) -> Exception:
    """Say what is wrong if programs read what we say, and give what ends the command; else give what says so itself."""
    logger: logging.Logger | None = click.get_current_context().obj
    if logger is None:
        return problem
    logger.critical(problem.message)
    return click.exceptions.Exit(problem.exit_code)


def teller(process: str, settings: Settings) -> Callable[[str], object]:
    """Give what tells the operator of what happens to a process: sentences for people, or lines for programs."""
    if settings.logs == "text":
        return tell
    setup.begin(process, settings.logs, settings.log_level)
    return for_programs(process).warning


def for_programs(process: str) -> logging.Logger:
    """Have what stops the command said by this logger, too."""
    logger = click.get_current_context().obj = logging.getLogger(f"slagveld.{process}")
    return logger


def tell(sentence: str, **more: Any) -> None:
    """Tell the operator what happens, on stderr."""
    click.echo(sentence, err=True, **more)
