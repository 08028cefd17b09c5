"""Counts the unfinished games of a bot or an account, so that limits on them hold across processes.

An owner is `bot:<id>`, `account:<id>` or `address:<ip>`; tournaments are counted alike, for `host:<id>`. A game is
counted from before it is created until its end is settled; what a crash left behind, and what nobody settles, `prune`
finds once there is no room: whatever never came to be or has ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from bot_sdk.results.values import GameState
from service.store import due, keys
from service.store.errors import told_apart
from service.store.lua import Args, Scripts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from redis import Redis

    from service.store.entities import Game


def bot(bot_id: str) -> str:
    """Give the owner's name of a bot."""
    return f"bot:{bot_id}"


def account(account_id: str) -> str:
    """Give the owner's name of an account."""
    return f"account:{account_id}"


def address(name: str) -> str:
    """Give the owner's name of an address from which games are made without an account."""
    return f"address:{name}"


def host(account_id: str) -> str:
    """Give the owner's name of an account as the host of tournaments."""
    return f"host:{account_id}"


def owners(game: Game) -> list[str]:
    """Give all whose limits a game counts against: its bots and its creator. House bots have no limit."""
    found = {bot(seat.bot_id) for seat in game.seats if seat.kind == "bot" and seat.bot_id}
    if game.owner:
        found.add(account(game.owner))
    return sorted(found)


STALE_MS = 60_000
"""How long a game may be counted before it is made; what is counted longer, a crash has left behind."""


class Unfinished:
    """The unfinished games of each owner, or whatever `have_ended` knows: by id, None for what doesn't exist."""

    def __init__(self, redis: Redis, have_ended: Callable[[Sequence[str]], Sequence[bool | None]]) -> None:
        self._redis = redis
        self._scripts = Scripts(redis)
        self.have_ended = have_ended

    def reserve(
        self, owner: str, game_id: str, limit: int, *, stale_ms: int = STALE_MS, kept_ms: int | None = None
    ) -> bool:
        """Count a game that is about to be created, if the owner then has at most `limit`; idempotent.

        When there is no room, the counts of games that have ended are dropped first, and of those that a crash kept
        from being made for longer than `stale_ms`. With `kept_ms` all of the owner's are forgotten that long after
        the last was counted: for owners of whom there may be any number.
        """
        names, args = [keys.unfinished(owner)], cast("Args", [game_id, limit, kept_ms or ""])
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
        now = due.Due(self._redis).now()

        def is_stale(at: float) -> bool:
            return abs(now - at) >= stale_ms  # or of a time that is yet to come, since the clock went back

        counted = self._redis.zrange(keys.unfinished(owner), 0, -1, withscores=True)
        since = {name.decode(): at for name, at in cast("list[tuple[bytes, float]]", counted)}
        found = zip(since.items(), self.have_ended(list(since)), strict=True)
        gone = [name for (name, at), ended in found if (is_stale(at) if ended is None else ended)]
        self.drop(owner, *gone)
        return len(gone)


def games_ended(redis: Redis) -> Callable[[Sequence[str]], list[bool | None]]:
    """Tell of games whether they have ended, None of those that don't exist, or whose hash is damaged."""

    def have_ended(game_ids: Sequence[str]) -> list[bool | None]:
        with redis.pipeline(transaction=False) as pipe:
            for game_id in game_ids:
                pipe.hget(keys.game_meta(game_id), "state")
                pipe.exists(keys.game_packed(game_id))  # asked for afterwards: what is packed by then has no meta
            told = told_apart(pipe.execute(raise_on_error=False))
        return [_has_ended(*pair) for pair in zip(told[::2], told[1::2], strict=True)]

    return have_ended


def _has_ended(state: object, is_packed: object) -> bool | None:
    if is_packed == 1:
        return True
    return GameState(state.decode()).is_end if isinstance(state, bytes) else None


def _decoded(members: object) -> list[str]:
    return [member.decode() for member in cast("list[bytes]", members)]
