"""What needs attention when: games, tournaments, suspended bots; the sweeper's lock; the store's clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from service.store import keys
from service.store.lua import Scripts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from redis import Redis

PEOPLE: Final = "interactive"
"""What a worker process takes on: games of people, and checks of bots."""
TOURNAMENTS: Final = "tournament"
"""Or games of tournaments, and fits and erasures. Most processes take on both."""
REMEMBERED_MS: Final = 60_000
"""How long at least it is known that a worker was there."""


def game(game_id: str) -> str:
    """Give the name a game goes by in here."""
    return f"game:{game_id}"


def tournament(tournament_id: str) -> str:
    """Give the name a tournament goes by in here."""
    return f"tournament:{tournament_id}"


def fit(tournament_id: str) -> str:
    """Give the name that the ratings of an ended tournament, which are to be fitted, go by in here."""
    return f"fit:{tournament_id}"


def erasure(account_id: str) -> str:
    """Give the name that an account which is to be erased goes by in here."""
    return f"erase:{account_id}"


def health(bot_id: str) -> str:
    """Give the name that the health of a suspended bot goes by in here."""
    return f"health:{bot_id}"


def check(check_id: str) -> str:
    """Give the name that a check of a bot, which hasn't ended, goes by in here."""
    return f"check:{check_id}"


def takes(worker: bytes, what: str) -> bool:
    """Tell whether a member of the set of worker processes takes on `what`."""
    only = worker.decode().partition(":")[2]
    return only in {"", what}


class Due:
    """Names (see `game` and those that follow) by the Redis millisecond at which each next needs attention."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._scripts = Scripts(redis)

    def now(self) -> int:
        """Give the store's own time in Unix milliseconds, the one clock that all processes share."""
        seconds, micros = self._redis.time()
        return int(seconds) * 1000 + int(micros) // 1000

    def add(self, name: str, at_ms: int) -> None:
        """Have `name` looked at when `at_ms` comes, whatever was set before."""
        self.add_many({name: at_ms})

    def add_many(self, times: Mapping[str, int]) -> None:
        """Have many names looked at, each at its time, whatever was set before."""
        self._redis.zadd(keys.DUE, dict(times))

    def begin(self, name: str, at_ms: int) -> None:
        """Have `name` looked at when `at_ms` comes, unless a time is set for it already."""
        self._redis.zadd(keys.DUE, {name: at_ms}, nx=True)

    def move(self, times: Mapping[str, int]) -> None:
        """Set the times of those names that are still due; one that has left in the meantime stays away."""
        if times:
            self._redis.zadd(keys.DUE, dict(times), xx=True)

    def move_from(self, known: Mapping[str, int], at_ms: int) -> dict[str, int]:
        """Set the time of those names that still have the time they are `known` to have.

        Gives the times of those that are due, moved or not. Sent twice, it does the same.
        """
        if not known:
            return {}
        pairs = [part for pair in known.items() for part in pair]
        told = self._scripts.run("move_due", [keys.DUE], [at_ms, *pairs])
        return {name: at for name, at in zip(known, told, strict=True) if at >= 0}

    def drop(self, *names: str) -> None:
        """Let them leave."""
        if names:
            self._redis.zrem(keys.DUE, *names)

    def drop_older(self, name: str, before_ms: int) -> bool:
        """Let it leave if it was due before `before_ms`; tell whether it was."""
        at = self.at(name)
        if at is None or at >= before_ms:
            return False
        self.drop(name)
        return True

    def at(self, name: str) -> int | None:
        """Tell when `name` is due, None if it isn't."""
        score = self._redis.zscore(keys.DUE, name)
        return None if score is None else int(score)

    def peek(self, now: int, limit: int) -> list[tuple[str, int]]:
        """Give up to `limit` names due at `now`, the longest overdue first, each with its time. They stay."""
        found = self._redis.zrange(keys.DUE, "-inf", now, byscore=True, offset=0, num=limit, withscores=True)
        return [(name.decode(), int(score)) for name, score in cast("list[tuple[bytes, float]]", found)]

    def count(self) -> int:
        """Tell how many names are in here, due or not."""
        return int(self._redis.zcard(keys.DUE))

    def lock(self, token: str, ms: int) -> bool:
        """Take or keep the sweeper's lock for `ms`; False while another token holds it."""
        return bool(self._scripts.run("acquire", [keys.SWEEPER], [token, ms]))

    def present(self, token: str, ttl_ms: int, only: str = "") -> int:
        """Note that the worker process `token` is there, and takes on all or `only` that; tell what `workers` does."""
        now = self.now()
        with self._redis.pipeline(transaction=True) as pipe:
            pipe.zadd(keys.WORKERS, {f"{token}:{only}" if only else token: now})
            pipe.zremrangebyscore(keys.WORKERS, "-inf", now - max(ttl_ms, REMEMBERED_MS))
            pipe.execute()
        return self._workers(now - ttl_ms)

    def workers(self, within_ms: int) -> int:
        """Tell how many worker processes that take on games of tournaments were there within the last `within_ms`."""
        return self._workers(self.now() - within_ms)

    def _workers(self, since_ms: int) -> int:
        there = self._redis.zrange(keys.WORKERS, f"({since_ms}", "+inf", byscore=True)
        return sum(takes(member, TOURNAMENTS) for member in cast("list[bytes]", there))

    def unlock(self, token: str) -> None:
        """Give the sweeper's lock back, if it is ours."""
        self._scripts.run("release", [keys.SWEEPER], [token])
