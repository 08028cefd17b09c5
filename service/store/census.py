"""Counts what is unfinished in the store, for whoever watches. It has a client of its own that gives up soon."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple, Self, cast

from service.store import keys
from service.store.connection import connect

if TYPE_CHECKING:
    from redis import Redis

PATIENCE_S: Final = 0.9
MOST: Final = 20_000
"""So many names are looked at, those that are due soonest; what is beyond that is counted as `more`."""
MORE: Final = "more"


class Counted(NamedTuple):
    """What was counted: names in `due` by kind (game, tournament, …), those of them whose time has come, workers."""

    due: Counter[str]
    overdue: Counter[str]
    workers: int


class Census:
    """Counts in one store, on one connection."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    @classmethod
    def open(cls, url: str) -> Self:
        """Give the census of the store at `url`; it connects at its first look."""
        return cls(connect(url, max_connections=1, pool_timeout_s=PATIENCE_S, socket_timeout_s=PATIENCE_S, retries=0))

    def look(self, now: int, silent_ms: int) -> Counted:
        """Count at that time of the store's clock (Unix ms); a worker is there that was within `silent_ms`.

        Raises what redis-py raises.
        """
        with self._redis.pipeline(transaction=False) as pipe:
            pipe.zrange(keys.DUE, 0, MOST - 1, withscores=True)
            pipe.zcard(keys.DUE)
            pipe.zcount(keys.WORKERS, now - silent_ms, "+inf")
            found, size, workers = pipe.execute()
        due: Counter[str] = Counter()
        overdue: Counter[str] = Counter()
        for name, at in cast("list[tuple[bytes, float]]", found):
            kind = name.partition(b":")[0].decode()
            due[kind] += 1
            if at <= now:
                overdue[kind] += 1
        if size > len(found):
            due[MORE] = size - len(found)
        return Counted(due, overdue, int(workers))

    def close(self) -> None:
        """End the connection."""
        self._redis.close()
