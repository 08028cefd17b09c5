"""Loads the Lua scripts and runs them: each is one atomic step, explained at its head in `scripts/`.

Each script begins with `#!lua`, so that the server refuses it as a whole when it is out of memory, before it
wrote half.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from hashlib import sha1
from importlib import resources
from typing import TYPE_CHECKING, Any

from service.store.errors import told_apart
from service.store.roundtrip import Command, exchange, raised

if TYPE_CHECKING:
    from redis import Redis

Args = Sequence[str | bytes | int]


@cache
def source(name: str) -> str:
    """Give the text of a script."""
    return (resources.files("service.store") / "scripts" / f"{name}.lua").read_text("utf-8")


@cache
def _digest(name: str) -> str:
    return sha1(source(name).encode()).hexdigest()  # noqa: S324 (what Redis names scripts by)


def call(name: str, keys: Sequence[str], args: Args) -> Command:
    """Give the command that runs a script which the server knows."""
    return ("EVALSHA", _digest(name), len(keys), *keys, *args)


class Scripts:
    """The scripts as one client runs them; the server is sent a text when it doesn't know it."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    def run(self, name: str, keys: Sequence[str], args: Args = ()) -> Any:
        """Run one script and give what it returns."""
        (told,) = exchange(self._redis, [call(name, keys, args)], [source(name)])
        return raised(told)

    def run_many(self, name: str, calls: Sequence[tuple[Sequence[str], Args]]) -> list[Any]:
        """Run one script for many (keys, args) in one round trip; not atomic as a whole.

        A DamagedError stands, unraised, in the place of what the server refused for good.
        """
        return told_apart(exchange(self._redis, [call(name, *each) for each in calls], [source(name)]))
