"""Secrets in environment variables, or in the files that variables name: ``NAME``, or else ``NAME_FILE``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from bot_sdk.errors import SdkError

SUFFIX: Final = "_FILE"
LONGEST: Final = 16 * 1024
"""Characters that are read of a file: no secret is as long."""


class VariableError(SdkError):
    """A secret that is given twice, or a file that doesn't hold one; the message never shows what it holds."""


def is_given(environment: Mapping[str, str], name: str) -> bool:
    """Whether the variable or its file is set; an empty one counts as one that isn't."""
    return any(environment.get(each, "").strip() for each in (name, name + SUFFIX))


def secret_of(environment: Mapping[str, str], name: str) -> str:
    """Give the value of ``NAME``, or the first line of the file that ``NAME_FILE`` names; empty if neither is set.

    Raises `VariableError`. Who else may read the file isn't checked: engines hand secrets to containers as files that
    everybody in them can read.
    """
    given, file = (environment.get(each, "").strip() for each in (name, name + SUFFIX))
    if given and file:
        raise VariableError(f"expected {name} or {name}{SUFFIX}, got both")
    return _first_line(name, Path(file)) if file else given


def _first_line(name: str, file: Path) -> str:
    expected = f"expected the name of a file with the value of {name} as {name}{SUFFIX}, got {str(file)!r}"
    try:
        if not file.is_file():  # a pipe would be waited for, and be empty for the next process
            raise VariableError(f"{expected}, which is no file")
        with file.open(encoding="utf-8") as opened:
            line = opened.readline(LONGEST).strip()
    except OSError as error:
        raise VariableError(f"{expected}: {error.strerror}") from None
    except ValueError:
        raise VariableError(f"{expected}, which isn't text") from None
    if not line:
        raise VariableError(f"{expected}, whose first line is empty")
    return line
