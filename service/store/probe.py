"""Looks at the store as a whole: whether it answers and takes writes, how full it is, who is there, what is overdue.

It has a client of its own that gives up soon, and writes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, cast

import msgspec

from service.store import due, keys, lua
from service.store.alarms import standing
from service.store.connection import connect

if TYPE_CHECKING:
    from redis import Redis

PATIENCE_S = 0.9
"""How long connecting may take, and then answering: a store that is stalled is known after the sum of both."""


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """What was seen. Times are in Unix milliseconds by the store's clock, memory in bytes.

    `limit` is what it may use, by its own setting or else what its machine has, 0 if it tells neither. `is_saved` says
    that its last tries to write log and snapshot went well. `oldest_due` is the time of what has been due for longest,
    `last_worker` when a worker was there last; None without any. `last_takers` tells the same of workers that take on
    games of people, or of tournaments (`due.PEOPLE`, `due.TOURNAMENTS`), as far as it is known. `begins_games` says
    that there is no maintenance. `alarms` are details by word.
    """

    now: int
    used: int
    limit: int
    is_saved: bool
    oldest_due: int | None
    last_worker: int | None
    last_takers: dict[str, int]
    begins_games: bool
    alarms: dict[str, str]


class Probe:
    """Asks one store, on one connection."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    @classmethod
    def open(cls, url: str) -> Self:
        """Give the probe of the store at `url`; it connects at its first look."""
        return cls(connect(url, max_connections=1, pool_timeout_s=PATIENCE_S, socket_timeout_s=PATIENCE_S, retries=0))

    def look(self) -> Seen:
        """Look once; raises what redis-py raises if the store doesn't answer in time, or would refuse a write."""
        with self._redis.pipeline(transaction=False) as pipe:
            pipe.eval(lua.source("writable"), 0)
            pipe.time()
            pipe.info("memory")
            pipe.info("persistence")
            pipe.zrange(keys.DUE, 0, 0, withscores=True)
            pipe.zrange(keys.WORKERS, 0, -1, desc=True, withscores=True)
            pipe.exists(keys.MAINTENANCE)
            pipe.hgetall(keys.ALARMS)
            told = pipe.execute(raise_on_error=False)
        for each in told:
            if isinstance(each, Exception):
                raise each  # as the store said it, for whoever tells errors by their first word
        _, (seconds, micros), memory, saving, to_do, workers, maintenance, alarms = told
        now = int(seconds) * 1000 + int(micros) // 1000
        return Seen(
            now=now,
            used=int(memory["used_memory"]),
            limit=int(memory.get("maxmemory") or memory.get("total_system_memory") or 0),
            is_saved=_is_saved(saving),
            oldest_due=_first(to_do),
            last_worker=_first(workers),
            last_takers=_takers(workers),
            begins_games=not maintenance,
            alarms=standing(alarms, now),
        )

    def close(self) -> None:
        """End the connection."""
        self._redis.close()


def _is_saved(saving: dict[str, Any]) -> bool:
    states = ("aof_last_write_status", "aof_last_bgrewrite_status", "rdb_last_bgsave_status")
    return all(saving.get(state, "ok") == "ok" for state in states)


def _first(found: object) -> int | None:
    pairs = cast("list[tuple[bytes, float]]", found)
    return int(pairs[0][1]) if pairs else None


def _takers(found: object) -> dict[str, int]:
    pairs = cast("list[tuple[bytes, float]]", found)  # the latest first
    latest = {what: [at for worker, at in pairs if due.takes(worker, what)] for what in (due.PEOPLE, due.TOURNAMENTS)}
    return {what: int(times[0]) for what, times in latest.items() if times}
