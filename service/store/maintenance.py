"""Keeps whether new games may begin: one value that every process reads before it starts one."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import msgspec

from service.store import keys
from service.store.documents import encode

if TYPE_CHECKING:
    from redis import Redis


class Maintenance(msgspec.Struct, frozen=True, kw_only=True):
    """Why no new games begin, and since when (Unix ms)."""

    reason: str
    since: int


_decode = msgspec.json.Decoder(Maintenance).decode


class MaintenanceStore:
    """Whether the arena is in maintenance. Setting it is idempotent; the last word stands."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    def get(self) -> Maintenance | None:
        """Give what keeps new games from beginning, None if nothing does."""
        found = cast("bytes | None", self._redis.get(keys.MAINTENANCE))
        return None if found is None else _decode(found)

    def begin(self, maintenance: Maintenance) -> None:
        """Let no new games begin from now on."""
        self._redis.set(keys.MAINTENANCE, encode(maintenance))

    def end(self) -> None:
        """Let them begin again."""
        self._redis.delete(keys.MAINTENANCE)
