"""The one base error of the package, and how its messages quote what came."""

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
