"""Finding by name what the arena knows by id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

from bot_sdk.transport import ArenaError


class _Named(Protocol):
    @property
    def id(self) -> str: ...

    @property
    def name(self) -> str: ...


N = TypeVar("N", bound=_Named)


def own(listed: Iterator[N]) -> Iterator[N]:
    """Give what the token's account has; nobody and the operator have nothing."""
    try:
        yield from listed
    except ArenaError as error:
        if error.code != "account_needed":
            raise


def called(name: str, shown: Iterable[N]) -> list[N]:
    """Give those that have this name."""
    return [each for each in shown if each.name == name]


def only(found: Sequence[N], wanted: str) -> N:
    """Give the only one; raises `ArenaError` ``not_found`` or ``ambiguous``, which says what was `wanted`."""
    if not found:
        raise ArenaError(0, "not_found", wanted)
    if len(found) > 1:
        ids = " or ".join(each.id for each in found[:5])
        raise ArenaError(0, "ambiguous", f"{wanted}, the name of {len(found)}: give an id, {ids}")
    return found[0]
