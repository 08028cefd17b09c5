"""Looks at all there is in the store without changing any of it: for the doctor.

It never sends a command that writes. What it reads in pages may change meanwhile, so who finds something wrong looks
again. What the server refuses for good, such as what is of another type, is a DamagedError in its place, unraised.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self, cast

from service.store import keys
from service.store.catalogue import Thing
from service.store.connection import connect
from service.store.errors import DamagedError, told_apart
from service.store.roundtrip import as_fields, exchange

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from redis import Redis

    from service.store.roundtrip import Command

PAGE = 500


class KeySeen(NamedTuple):
    """A key's type as Redis names it, `none` if it is gone, and the ms until it expires, None if it doesn't."""

    holds: str
    left_ms: int | None


class GameSeen(NamedTuple):
    """What is kept of a game that isn't packed: the fields of its hash, how long its log is, whether it has a secret.

    `due_at` is the Redis ms at which it is looked at, None if it isn't due.
    """

    fields: dict[bytes, bytes] | DamagedError
    length: int | DamagedError
    has_secret: bool
    due_at: int | None


class Inspection:
    """One look at one store."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    @classmethod
    def open(cls, url: str) -> Self:
        """Give the inspection of the store at `url`; it connects at its first look."""
        return cls(connect(url, max_connections=4, is_patient=False))

    def close(self) -> None:
        """End the connections."""
        self._redis.close()

    def now(self) -> int:
        """Give the store's time, Unix ms."""
        seconds, micros = self._redis.time()
        return int(seconds) * 1000 + int(micros) // 1000

    def info(self) -> dict[str, Any]:
        """Give what the server says of itself, as redis-py reads INFO."""
        return dict(self._redis.info())

    def size(self) -> int:
        """Tell how many keys there are."""
        return int(self._redis.dbsize())

    # --- keys ---------------------------------------------------------------------------------------------------------

    def all_keys(self) -> Iterator[list[bytes]]:
        """Give all keys in pages; one may come twice, and one that comes or goes meanwhile may not come."""
        cursor = -1
        while cursor:
            cursor, found = self._redis.scan(max(cursor, 0), count=PAGE)
            yield list(dict.fromkeys(cast("list[bytes]", found)))

    def keys_seen(self, names: Sequence[bytes]) -> list[KeySeen]:
        """Tell of keys what they hold and when they expire."""
        told = self._ask([command for name in names for command in (("TYPE", name), ("PTTL", name))])
        return [KeySeen(_text(kind), ms if ms >= 0 else None) for kind, ms in zip(told[::2], told[1::2], strict=True)]

    def exist(self, things: Sequence[tuple[Thing, str]], *, in_part: bool = False) -> list[bool]:
        """Tell which things there are. With `in_part` of a game any part of it will do, for those it is named by."""
        commands: list[Command] = []
        for thing, ident in things:
            is_any = in_part and thing is Thing.GAME
            names = keys.of_game(ident) if is_any else [make(ident) for make in thing.value]
            commands.append(("EXISTS", *names))
        return [bool(found) for found in self._ask(commands)]

    def there(self, names: Sequence[str]) -> list[bool]:
        """Tell which keys there are."""
        return [bool(found) for found in self._ask([("EXISTS", name) for name in names])]

    # --- sorted sets --------------------------------------------------------------------------------------------------

    def members(self, key: str) -> Iterator[list[tuple[str, int]]]:
        """Give the members of a sorted set with their scores, in pages, one perhaps twice; none if it isn't one."""
        cursor = -1
        while cursor:
            (told,) = self._ask([("ZSCAN", key, max(cursor, 0), "COUNT", PAGE)])
            if isinstance(told, DamagedError):
                return
            cursor, found = int(told[0]), told[1]
            yield [(_text(name), int(float(score))) for name, score in zip(found[::2], found[1::2], strict=True)]

    def scores(self, asked: Sequence[tuple[str, str]]) -> list[int | None]:
        """Give the scores of members, each by key and name; None for one that isn't there."""
        told = self._ask([("ZSCORE", key, name) for key, name in asked])
        return [None if score is None or isinstance(score, DamagedError) else int(float(score)) for score in told]

    def due(self, names: Sequence[str]) -> list[int | None]:
        """Give the Redis ms at which names (see `due`) are looked at, None for those that aren't due."""
        return self.scores([(keys.DUE, name) for name in names])

    # --- values -------------------------------------------------------------------------------------------------------

    def values(self, names: Sequence[str]) -> list[bytes | DamagedError | None]:
        """Give plain values."""
        return self._ask([("GET", name) for name in names])

    def games(self, game_ids: Sequence[str], due_names: Sequence[str]) -> list[GameSeen]:
        """Give what is kept of games, each with the name it goes by in what is due; the log as it is after the rest."""
        told = self._ask(
            [
                command
                for game_id, name in zip(game_ids, due_names, strict=True)
                for command in (
                    ("HGETALL", keys.game_meta(game_id)),
                    ("EXISTS", keys.game_secret(game_id)),
                    ("ZSCORE", keys.DUE, name),
                    ("LLEN", keys.game_log(game_id)),
                )
            ]
        )
        return [_game_seen(*told[at : at + 4]) for at in range(0, len(told), 4)]

    def fields(self, key: str) -> Iterator[list[tuple[str, bytes]]]:
        """Give the fields of a hash in pages, one perhaps twice; raises DamagedError if it isn't one."""
        cursor = -1
        while cursor:
            (told,) = self._ask([("HSCAN", key, max(cursor, 0), "COUNT", PAGE)])
            if isinstance(told, DamagedError):
                raise told
            cursor, found = int(told[0]), told[1]
            yield [(_text(name), value) for name, value in zip(found[::2], found[1::2], strict=True)]

    def _ask(self, commands: Sequence[Command]) -> list[Any]:
        return told_apart(exchange(self._redis, commands))


def _game_seen(fields: Any, has_secret: Any, due_at: Any, length: Any) -> GameSeen:
    is_damaged = isinstance(fields, DamagedError)
    return GameSeen(
        fields if is_damaged else as_fields(fields),
        length,
        has_secret == 1,
        None if due_at is None or isinstance(due_at, DamagedError) else int(float(due_at)),
    )


def _text(value: Any) -> str:
    """Read what should be text; what isn't is written out, so that whoever shows it can."""
    return cast("bytes", value).decode(errors="backslashreplace")
