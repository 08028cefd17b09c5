"""What a decision costs when the store holds many finished games, beside a store that holds few.

Both stores begin with the same tournament of a hundred games of Seven Up, played by the worker; in one of them it is
copied, key by key under new ids, with its place in every list, until there are a hundred thousand games. Each copy of
a game is packed anew, by the store's own code, since its packed form is sealed for one id; its label stays, since its
packs follow from that. What a bot keeps of its latest games is bounded and isn't copied.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple, TypeAlias, cast

import msgspec
from msgspec.structs import replace
from redis import Redis
from redis.client import Pipeline

from benchmarks.ground import BotServer, Ground
from benchmarks.harness import Effort, Line, Row, at_most, interleave, ratio_row
from bot_sdk.events import Event
from service.store import keys, packed
from service.store.documents import encode
from service.store.entities import Game
from service.store.games import GameStore

FEW: Final = 100
MANY: Final = 100_000
GAMES: Final = 48
_ID_LENGTH: Final = 26
_DIGITS: Final = str.maketrans("0123456789", "abcdefghij")
_ITEMS: Final = 2_000
_DUE: Final = keys.DUE.encode()
"""What still follows from the end of the one that is copied follows once."""
_Item: TypeAlias = tuple[bytes, ...]
_Stored: TypeAlias = tuple[bytes, bytes, list[_Item]]
"""A key: its name, its kind and its items, see `_items`."""
_Anew: TypeAlias = Callable[[bytes], bytes]
_as_game: Final = msgspec.json.Decoder(Game).decode


def rows(effort: Effort) -> Iterator[Line]:
    """Measure River of four, one request each, on both stores in turns."""
    few, many, games = effort.count(FEW, 8), effort.count(MANY), effort.count(GAMES)
    with BotServer() as bots, Ground(bots) as small, Ground(bots) as large:
        held = [(ground, ground.start("seven_up", few)) for ground in (small, large)]
        for ground, tournament_id in held:
            ground.wait_for(tournament_id)
        added = copy(large.redis, held[1][1], many - few)
        if (listed := large.redis.zcard(keys.GAMES)) != added + few:
            raise RuntimeError(f"expected {added + few} games in the store, got {listed}")
        for ground in (small, large):
            ground.play("river", games)
        beside_many, beside_few = interleave(
            effort.rounds, lambda: large.play("river", games).us_each, lambda: small.play("river", games).us_each
        )
        memory = large.redis.info("memory")["used_memory"]
    name = f"{added + few:,} finished games in the store ÷ {few}: CPU a decision"
    yield ratio_row(name, beside_many, beside_few, at_most(1.05))
    yield Row(f"{added + few:,} finished games of Seven Up: memory of the whole store", (memory / 2**20,), unit="MiB")


def copy(redis: Redis, tournament_id: str, games: int) -> int:
    """Copy an ended tournament until at least so many games have been added; give how many were."""
    template = Template(redis, tournament_id)
    copies = -(-games // template.games)
    for number in range(copies):
        template.copy(number)
    return copies * template.games


class _Packed(NamedTuple):
    """A packed game, opened."""

    game: Game
    events: list[Event]
    secret: bytes
    shown: str | None

    @classmethod
    def opened(cls, redis: Redis, game_id: str) -> _Packed:
        """Read a game that has ended; it is packed if nobody has done that yet."""
        if not GameStore(redis).pack(game_id):
            raise RuntimeError(f"expected a game that has ended, got {game_id}")
        value, notes = cast("list[bytes]", redis.mget(keys.game_packed(game_id), keys.game_notes(game_id)))
        return cls(*packed.unpack(game_id, value, notes), packed.shown_by(game_id, value))

    def copy(self, pipe: Pipeline, anew: _Anew) -> None:
        """Write it again under another id."""
        game = replace(_as_game(anew(encode(self.game))), label=self.game.label)
        kept = packed.pack(game, self.events, self.secret, shown=self.shown)
        pipe.set(keys.game_packed(game.id), kept.value)
        if kept.notes is not None:
            pipe.set(keys.game_notes(game.id), kept.notes)


class Template:
    """All that the store holds of an ended tournament and its games, by keys and by places in lists.

    Lists of the store are sorted sets and hashes whose members or fields end with an id.
    """

    def __init__(self, redis: Redis, tournament_id: str) -> None:
        """Read it, once."""
        self._redis = redis
        listed = cast("list[bytes]", redis.zrange(keys.tournament_games(tournament_id), 0, -1))
        game_ids = [member.rpartition(b":")[2] for member in listed]
        self.games = len(game_ids)
        self._ids = [tournament_id.encode(), *game_ids]
        self._is_id = re.compile(b"|".join(self._ids))
        self._packed = [_Packed.opened(redis, game_id.decode()) for game_id in game_ids]
        sealed = {key(game.id).encode() for game, *_ in self._packed for key in (keys.game_packed, keys.game_notes)}
        names = [name for name in cast("Iterator[bytes]", redis.scan_iter(count=_ITEMS)) if name not in sealed]
        own = [name for name in names if self._is_id.search(name)]
        self._own = list(self._whole(own))
        self._listed = list(self._listings(name for name in names if name not in {*own, _DUE}))

    def copy(self, number: int) -> None:
        """Write it again under the ids of that copy."""
        ids = {old: _renamed(old, number * len(self._ids) + at) for at, old in enumerate(self._ids)}

        def anew(value: bytes) -> bytes:
            return self._is_id.sub(lambda found: ids[found[0]], value)

        with self._redis.pipeline(transaction=False) as pipe:
            for name, kind, items in self._own + self._listed:
                _write(pipe, (anew(name), kind, [tuple(map(anew, item)) for item in items]))
            for each in self._packed:
                each.copy(pipe, anew)
            pipe.execute()

    def _whole(self, names: Iterable[bytes]) -> Iterator[_Stored]:
        for name in names:
            kind = cast("bytes", self._redis.type(name))
            yield name, kind, _items(self._redis, name, kind)

    def _listings(self, names: Iterable[bytes]) -> Iterator[_Stored]:
        for name in names:
            if (kind := cast("bytes", self._redis.type(name))) in {b"zset", b"hash"}:
                items = [item for item in _items(self._redis, name, kind) if item[0].rpartition(b":")[2] in self._ids]
                if items:
                    yield name, kind, items


def _renamed(old: bytes, number: int) -> bytes:
    prefix, _, _ = old.partition(b"_")
    return prefix + f"_{number:0{_ID_LENGTH}d}".translate(_DIGITS).encode()


def _items(redis: Redis, name: bytes, kind: bytes) -> list[_Item]:
    """Read a key of any kind, as tuples of bytes: a member with its score, a field with its value, or one value."""
    match kind:
        case b"string":
            return [(cast("bytes", redis.get(name)),)]
        case b"hash":
            return list(cast("dict[bytes, bytes]", redis.hgetall(name)).items())
        case b"list":
            return [(value,) for value in cast("list[bytes]", redis.lrange(name, 0, -1))]
        case b"zset":
            members = cast("list[tuple[bytes, float]]", redis.zrange(name, 0, -1, withscores=True))
            return [(member, b"%.17g" % score) for member, score in members]
        case _:
            raise ValueError(f"expected a string, hash, list or sorted set at {name!r}, got {kind!r}")


def _write(pipe: Pipeline, stored: _Stored) -> None:
    name, kind, items = stored
    match kind:
        case b"string":
            pipe.set(name, items[0][0])
        case b"hash":
            for field, value in items:
                pipe.hset(name, field, value)
        case b"list":
            pipe.rpush(name, *[value for (value,) in items])
        case _:
            pipe.zadd(name, {member: float(score) for member, score in items})
