"""Looks at what the arena stands on: the server, its clock and memory, the workers, the queue."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from redis import RedisError

from service.arena.readiness import APART_MS, FULL, missing_workers
from service.config import Settings
from service.doctor.suspects import UNREADABLE, Suspect
from service.jobs import MOST_LETTERS, DeadLetters
from service.launch.valkey import OLDEST
from service.store import keys
from service.store.clock import TOLERANCE_MS
from service.store.errors import passes
from service.store.inspection import Inspection
from service.store.probe import Probe, Seen

_SAVING: Final = ("aof_last_write_status", "aof_last_bgrewrite_status", "rdb_last_bgsave_status")
_VERSION: Final = re.compile(r"(\d+)\.(\d+)")


class Surroundings:
    """Everything that is no thing of the arena's own; there are no subjects, only what is wrong now.

    `is_still`: nobody works on this store, it is a copy. `clock` is this machine's own, in Unix ms.
    """

    def __init__(
        self, settings: Settings, store: Inspection, letters: DeadLetters, *, clock: Callable[[], int], is_still: bool
    ) -> None:
        """Keep what it looks at."""
        self._settings = settings
        self._store = store
        self._letters = letters
        self._clock = clock
        self._is_still = is_still

    def look(self) -> Iterator[Suspect]:
        """Tell what is wrong; raises what redis-py raises if the store can't be read."""
        info = self._store.info()
        yield from of_server(info)
        probe = Probe.open(self._settings.redis_url)
        try:
            yield from self._of_arena(probe.look())
        except RedisError as error:
            if passes(error):  # what it says for good, such as of a key of the wrong type, is found at that key
                yield _found("store_refuses_writes", str(error))
        except UNREADABLE:
            yield _found("key_damaged", f"{keys.ALARMS} or {keys.WORKERS}")
        finally:
            probe.close()
        if not self._is_still:
            yield from self._of_memory(info)
        yield from self._of_queue()
        accounts, kept = self._store.there([keys.ACCOUNTS, keys.ARENA_KEY])
        if accounts and not kept and self._settings.key is None:
            yield _found("arena_key_missing", "SLAGVELD_KEY")

    def _of_arena(self, seen: Seen) -> Iterator[Suspect]:
        if not seen.begins_games:
            yield _found("maintenance", "no new games")
        for word, detail in seen.alarms.items():
            yield _found("alarm", f"{word}: {detail}")
        if self._is_still:
            return
        yield from (_found("no_worker", detail) for detail in missing_workers(seen, self._settings.sweep_ms))
        ahead = 0 if seen.last_worker is None else seen.last_worker - seen.now
        if ahead > TOLERANCE_MS:
            yield _found("clock_back", f"by {ahead // 1000} s")
        apart = self._clock() - seen.now
        if abs(apart) > APART_MS:
            yield _found(
                "clock_apart", f"this machine's is {abs(apart) / 1000:.0f} s {'ahead' if apart > 0 else 'behind'}"
            )

    def _of_memory(self, info: Mapping[str, Any]) -> Iterator[Suspect]:
        limit = int(info.get("maxmemory") or info.get("total_system_memory") or 0)
        if limit and info["used_memory"] > FULL * limit:
            yield _found("memory_low", f"{info['used_memory'] >> 20} of {limit >> 20} MiB")

    def _of_queue(self) -> Iterator[Suspect]:
        try:
            counts = self._letters.count()
        except RedisError as error:
            yield _found("queue_away", type(error).__name__)
            return
        for queue, count in counts.items():
            more = ", the list is full" if count >= MOST_LETTERS else ""
            yield _found("dead_letters", f"{count} of the queue {queue}{more}")


def of_server(info: Mapping[str, Any]) -> Iterator[Suspect]:
    """Tell what is wrong with a server by what it says of itself."""
    version = _VERSION.match(str(info.get("redis_version", "")))
    if version is None or (int(version[1]), int(version[2])) < OLDEST:
        yield _found("store_old", str(info.get("redis_version")))
    policy = info.get("maxmemory_policy", "noeviction")
    if policy != "noeviction":
        yield _found("store_evicts", f"maxmemory-policy is {policy}")
    if info.get("evicted_keys"):
        yield _found("keys_evicted", f"{info['evicted_keys']} keys")
    if not info.get("aof_enabled"):
        yield _found("no_log", "appendonly is no")
    for state in _SAVING:
        if info.get(state, "ok") != "ok":
            yield _found("not_saved", f"{state}: {info[state]}")


def _found(code: str, where: str) -> Suspect:
    return Suspect(code, where, "")
