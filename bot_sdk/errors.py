"""The one base error of the package, and how its messages quote what came and went wrong."""

from __future__ import annotations

from typing import Final

_LONGEST: Final = 80


class SdkError(Exception):
    """Base of every error this package raises on purpose. The message says what was expected and what came."""


def quoted(value: object) -> str:
    """Quote a value that came from outside, cut to 80 characters; one that has no repr is named by its type.

    Python refuses to write out an integer of thousands of digits or a list nested as deep, and a message about
    nonsense must not fail over it.
    """
    try:
        return repr(value)[:_LONGEST]
    except (ValueError, RecursionError):
        return f"a {type(value).__name__} too large to show"


def reason(error: BaseException) -> str:
    """Give the system's own words for what went wrong, out of the exceptions that the libraries wrap around them."""
    at: BaseException | None = error
    while at is not None:
        if isinstance(at, OSError) and at.strerror:
            return at.strerror
        at = at.__cause__ or at.__context__
    return str(error)
