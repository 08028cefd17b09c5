"""What has to be known before a request is let in, asked in one round trip: its counts, and of a game how it stands."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from redis.exceptions import ResponseError

from bot_sdk.results.values import GameState
from service.store import keys
from service.store.lua import call, source
from service.store.roundtrip import exchange, raised

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from redis import Redis

    from service.store.clock import Clock, Moment
    from service.store.roundtrip import Command


class Counter(NamedTuple):
    """Counts requests under a name: at most `most` in `seconds`."""

    name: str
    most: int
    seconds: int


class Passed(NamedTuple):
    """A limit that was passed, by its place among the counters, and the seconds until it counts anew."""

    at: int
    seconds: int


class Marks(NamedTuple):
    """What fixes all that a begun game has come to: when it began, how long its log is, and when that grew last.

    A game that has ended is as it ended, however its log is kept since.
    """

    state: GameState
    started_at: int
    length: int
    stamp: int | None


@dataclass(frozen=True, slots=True)
class Glance:
    """How a game stood at one moment; `marks` is None unless it has begun. `tokens` are hashes by seat."""

    moment: Moment
    marks: Marks | None
    tokens: Mapping[int, str]

    def seat_of(self, hashed: str) -> int | None:
        """Find the seat that is held by the token with this SHA-256."""
        return holder(self.tokens, hashed)


def holder(tokens: Mapping[int, str], hashed: str) -> int | None:
    """Find the seat that is held by the token with this SHA-256, by the hashes of all seats."""
    return next((seat for seat, known in tokens.items() if hmac.compare_digest(known, hashed)), None)


class Door:
    """Counts who comes in and looks at what they come for, over a client that should give up soon."""

    def __init__(self, redis: Redis, clock: Clock) -> None:
        """Keep what it works with; `clock` is that of the process."""
        self._redis = redis
        self._clock = clock

    def count(self, counters: Sequence[Counter]) -> Passed | None:
        """Count a request; give the first limit that it passed, if any."""
        return _passed(*exchange(self._redis, [_counting(counters)], [source("count")]))

    def glance(self, counters: Sequence[Counter], game_id: str) -> tuple[Passed | None, Glance | None]:
        """Count a request for a game, and look at that; None if it can't be looked at."""
        names = (keys.game_meta(game_id), keys.game_log(game_id), keys.game_tokens(game_id))
        clock, sent = self._clock.asking()
        commands = [_counting(counters), call("glance", names, ()), *clock]
        counted, seen, *told = exchange(self._redis, commands, [source("count"), source("glance")])
        passed = _passed(counted)
        moment = self._clock.told([raised(answer) for answer in told], sent)
        try:
            return passed, _glance(moment, raised(seen))
        except (ResponseError, ValueError):  # whoever loads the game will say what is wrong with it
            return passed, None


def _counting(counters: Sequence[Counter]) -> Command:
    limits = [part for each in counters for part in (each.most, each.seconds)]
    return call("count", [keys.rate(each.name) for each in counters], limits)


def _passed(told: Any) -> Passed | None:
    number, seconds = raised(told)
    return Passed(number - 1, seconds) if number else None


def _glance(moment: Moment, seen: list[Any]) -> Glance:
    pairs = iter(seen[4:])
    tokens = {int(seat): held.decode("ascii") for seat, held in zip(pairs, pairs, strict=True)}
    return Glance(moment, _marks(*seen[:4]), tokens)


def _marks(state: bytes, started_at: bytes, length: int, stamp: bytes) -> Marks | None:
    if not state or not started_at:
        return None
    return Marks(GameState(state.decode()), int(started_at), length, int(stamp) if stamp else None)
