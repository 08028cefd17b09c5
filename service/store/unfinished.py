"""Counts the unfinished games of a bot or an account, so that limits on them hold across processes.

An owner is `bot:<id>` or `account:<id>`. A game is counted from before it is created until its end is
settled; if a crash leaves one behind that never came to be or has ended, `prune` finds it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard, cast

from bot_sdk.results.values import GameState
from service.store import keys
from service.store.errors import DamagedError, told_apart
from service.store.lua import Args, Scripts

if TYPE_CHECKING:
    from redis import Redis

    from service.store.entities import Game


def bot(bot_id: str) -> str:
    """Give the owner's name of a bot."""
    return f"bot:{bot_id}"


def account(account_id: str) -> str:
    """Give the owner's name of an account."""
    return f"account:{account_id}"


def owners(game: Game) -> list[str]:
    """Give all whose limits a game counts against: its bots and its creator. House bots have no limit."""
    found = {bot(seat.bot_id) for seat in game.seats if seat.kind == "bot" and seat.bot_id}
    if game.owner:
        found.add(account(game.owner))
    return sorted(found)


STALE_MS = 60_000
"""How long a game may be counted before it is made; what is counted longer, a crash has left behind."""


class Unfinished:
    """The unfinished games of each owner."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._scripts = Scripts(redis)

    def reserve(self, owner: str, game_id: str, limit: int, *, stale_ms: int = STALE_MS) -> bool:
        """Count a game that is about to be created, if the owner then has at most `limit`; idempotent.

        When there is no room, the counts of games that have ended are dropped first, and of those that a crash kept
        from being made for longer than `stale_ms`.
        """
        names, args = [keys.unfinished(owner)], cast("Args", [game_id, limit])
        if self._scripts.run("reserve", names, args):
            return True
        return self.prune(owner, stale_ms) > 0 and bool(self._scripts.run("reserve", names, args))

    def drop(self, owner: str, *game_ids: str) -> None:
        """Count these games no longer."""
        if game_ids:
            self._redis.zrem(keys.unfinished(owner), *game_ids)

    def count(self, owner: str) -> int:
        """Tell how many games the owner has."""
        return int(self._redis.zcard(keys.unfinished(owner)))

    def games(self, owner: str) -> list[str]:
        """Give the ids of the owner's games, the longest counted first."""
        return _decoded(self._redis.zrange(keys.unfinished(owner), 0, -1))

    def prune(self, owner: str, stale_ms: int = STALE_MS) -> int:
        """Drop games that have ended, and those counted for longer than `stale_ms` that don't exist; tell how many."""
        seconds, _ = self._redis.time()
        before = int(seconds) * 1000 - stale_ms
        counted = self._redis.zrange(keys.unfinished(owner), 0, -1, withscores=True)
        since = {name.decode(): at for name, at in cast("list[tuple[bytes, float]]", counted)}
        with self._redis.pipeline(transaction=False) as pipe:
            for name in since:
                pipe.hget(keys.game_meta(name), "state")
            states = told_apart(pipe.execute(raise_on_error=False))
        found = zip(since.items(), states, strict=True)
        gone = [name for (name, at), state in found if (_has_ended(state) if _is_there(state) else at <= before)]
        self.drop(owner, *gone)
        return len(gone)


def _is_there(state: bytes | DamagedError | None) -> TypeGuard[bytes]:
    return isinstance(state, bytes)


def _has_ended(state: bytes) -> bool:
    return GameState(state.decode()).is_end


def _decoded(members: object) -> list[str]:
    return [member.decode() for member in cast("list[bytes]", members)]
