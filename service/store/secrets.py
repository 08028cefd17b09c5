"""Keeps the arena key: 32 bytes that tokens and made secrets are derived with, the same for all processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from service.store import keys

if TYPE_CHECKING:
    from redis import Redis


class Secrets:
    """The arena's own secrets. With `given`, that is the arena key and nothing is kept."""

    def __init__(self, redis: Redis, *, given: bytes | None = None) -> None:
        self._redis = redis
        self._given = given

    def arena_key(self, fresh: bytes) -> bytes:
        """Give the arena key. `fresh` becomes it at the very first start, and is ignored ever after."""
        if self._given is not None:
            return self._given
        self._redis.set(keys.ARENA_KEY, fresh, nx=True)
        return cast("bytes", self._redis.get(keys.ARENA_KEY))
