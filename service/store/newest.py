"""Keeps lists of what happened lately, each capped and running out; what the lists are of, their modules say.

A list holds the newest things of all that were ever added to it: adding one twice adds it once, and one that has left
doesn't come back. So whoever doesn't know whether he has added something adds it again.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import msgspec

from service.store import listing
from service.store.documents import encode
from service.store.errors import DamagedError, told_apart
from service.store.roundtrip import Command, exchange

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from redis import Redis

logger = logging.getLogger(__name__)

T = TypeVar("T", bound=msgspec.Struct)

KEPT_S = 90 * 24 * 3600
"""How long a list outlives its last line: bots come and go, and nobody would ever sweep up after them."""


class Added(NamedTuple):
    """What goes into the list at `key`: `value`, which came at the Unix ms `at`, under a name of its own there."""

    key: str
    at: int
    name: str
    value: msgspec.Struct


def add(redis: Redis, all_added: Iterable[Added], *, keep: int) -> None:
    """Add things to lists of the newest `keep` each, in one round trip; those of a list that is damaged are lost.

    The same thing must always come with the same `at`, `name` and `value`.
    """
    members: dict[str, list[bytes | int]] = {}
    for key, at, name, value in all_added:
        members.setdefault(key, []).extend((0, f"{listing.member(at, name)} ".encode() + encode(value)))
    commands: list[Command] = []
    for key, added in members.items():
        commands.append(("ZADD", key, *added))
        commands.append(("ZREMRANGEBYRANK", key, 0, -keep - 1))
        commands.append(("EXPIRE", key, KEPT_S))
    for told in told_apart(exchange(redis, commands)):
        if isinstance(told, DamagedError):
            logger.error("what happened lately is lost: %s", told)


def values(names: Sequence[str], kind: type[T]) -> list[T]:
    """Read the values out of what `listing.page` gives of such a list."""
    decode = msgspec.json.Decoder(kind).decode
    return [decode(name.partition(" ")[2]) for name in names]
