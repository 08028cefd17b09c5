"""Commits what people do, in one round trip with all that goes with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from service.store import keys
from service.store.games import as_call
from service.store.lua import call, source
from service.store.roundtrip import exchange, raised

if TYPE_CHECKING:
    from redis import Redis

    from service.store.clock import Clock, Moment
    from service.store.games import Commit, GameStore, Proposal


class Moves:
    """What people do in games."""

    def __init__(self, redis: Redis, games: GameStore, clock: Clock) -> None:
        """Keep what it works with; `clock` is that of the process."""
        self._redis = redis
        self._games = games
        self._clock = clock

    def commit(self, proposal: Proposal, look_again: tuple[str, int]) -> tuple[Commit, Moment]:
        """Commit as `GameStore.commit`, and tell the time after it.

        Before that, the name of `look_again` is made due at its time: should this process die on the way, the sweeper
        sees to what follows.
        """
        name, at_ms = look_again
        clock, sent = self._clock.asking()
        commands = [("ZADD", keys.DUE, at_ms, name), call("commit", *as_call(proposal)), *clock]
        asked, told, *read = exchange(self._redis, commands, [source("commit")])
        raised(asked)
        commit = self._games.as_commit(proposal, raised(told))
        return commit, self._clock.told([raised(answer) for answer in read], sent)

    def look_at(self, name: str, at_ms: int) -> None:
        """Have `name` looked at when `at_ms` comes, as `Due.add`."""
        raised(exchange(self._redis, [("ZADD", keys.DUE, at_ms, name)])[0])
