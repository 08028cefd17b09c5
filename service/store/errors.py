"""What the store raises, beside redis-py's own errors, and which of all those pass by themselves."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from redis.exceptions import (
    BusyLoadingError,
    ClusterDownError,
    ConnectionError,  # noqa: A004 (redis-py's name)
    ExecAbortError,
    MasterDownError,
    NoScriptError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    TimeoutError,  # noqa: A004 (redis-py's name)
    TryAgainError,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

_PASSING: Final = (
    BusyLoadingError,
    ClusterDownError,
    ConnectionError,
    ExecAbortError,  # alone only when the server came to refuse writes between a transaction's commands and its EXEC
    MasterDownError,
    NoScriptError,  # it was loaded just before, but somebody had all scripts forgotten in between
    OutOfMemoryError,
    ReadOnlyError,
    TimeoutError,
    TryAgainError,
)
_SAYS_LATER: Final = re.compile(r"(?:^|caused error: )(?:MISCONF|NOREPLICAS|BUSY) ")
"""How the server begins, alone or in a pipeline, errors that pass and that redis-py has no classes for: a disk that is
full, replicas that are away, a script that runs long."""


class StoreError(Exception):
    """The base of them all."""


class NotFoundError(StoreError):
    """Nothing is kept under that id."""


class BadCursorError(StoreError):
    """A cursor of a list that this list never gave."""


class FullError(StoreError):
    """There are as many as may be: nothing was kept."""


class LastError(StoreError):
    """It is the last one, which has to stay."""


class ContendedError(StoreError):
    """A value changed under our hands so often that we gave up; trying again later is right."""


class DamagedError(StoreError):
    """What is kept can't be read, or the server refuses to work on it: nothing here wrote it so."""


class FormError(StoreError):
    """The store has a form that this release doesn't know: nothing in it may be touched."""


def passes(error: BaseException) -> bool:
    """Tell whether an error passes by itself: the server is away, full or read-only, and trying again is right.

    Anything else it says, such as WRONGTYPE, it will say again.
    """
    return isinstance(error, _PASSING) or (isinstance(error, RedisError) and bool(_SAYS_LATER.search(str(error))))


def told_apart(answers: Sequence[Any]) -> list[Any]:
    """Give the answers of a pipeline run with `raise_on_error=False`, DamagedError where the server refused a command.

    Raises the first error that passes.
    """
    for answer in answers:
        if isinstance(answer, RedisError) and passes(answer):
            raise answer
    return [DamagedError(f"the store says {a}") if isinstance(a, RedisError) else a for a in answers]
