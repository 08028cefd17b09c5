"""Copies all keys of one database into another, empty one, on whatever server.

By commands that every version knows: the form in which a server dumps values isn't read by older ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from redis import RedisError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from redis import Redis
    from redis.client import Pipeline

_KEYS = 500
_ITEMS = 1_000


class CopyError(Exception):
    """It can't be copied; the message says why, and what is in the target now."""


def copy_all(source: Redis, target: Redis, told: Callable[[int], object] = lambda _: None) -> int:
    """Copy all keys with their expiry; give how many. `told` hears of those so far.

    The target's client must send nothing twice: adding to a list isn't idempotent. Raises CopyError if the target
    isn't empty or something goes wrong on the way; then what was copied is taken away again.
    """
    names = list(dict.fromkeys(source.scan_iter(count=_KEYS)))  # a scan may give one twice
    if target.dbsize():
        raise CopyError("expected a store that is empty; nothing was changed")
    done = 0
    try:
        for done in range(0, len(names), _KEYS):
            _copy(source, target, names[done : done + _KEYS])
            told(min(done + _KEYS, len(names)))
    except (RedisError, CopyError) as error:
        raise CopyError(f"{error}; {_undone(target, names[: done + _KEYS])}") from error
    return target.dbsize()


def _undone(target: Redis, names: Sequence[bytes]) -> str:
    try:
        target.unlink(*names)
    except RedisError:
        return "the store holds a part of it now, empty it before you try again"
    return "nothing of it was left in the store"


def _copy(source: Redis, target: Redis, names: Sequence[bytes]) -> None:
    with source.pipeline(transaction=False) as pipe:
        for name in names:
            pipe.type(name)
            pipe.pexpiretime(name)  # type: ignore[arg-type]  # it takes bytes as all others do
        told = pipe.execute()
    kinds, expiries = told[::2], told[1::2]
    with source.pipeline(transaction=False) as reading:
        for name, kind in zip(names, kinds, strict=True):
            _read(reading, name, kind)
        values = iter(reading.execute())
    with target.pipeline(transaction=False) as writing:
        for name, kind, expiry in zip(names, kinds, expiries, strict=True):
            if kind != b"none":  # else it has expired
                _write(writing, name, kind, next(values))
            if expiry > 0:
                writing.pexpireat(name, expiry)
        writing.execute()


def _read(pipe: Pipeline, name: bytes, kind: bytes) -> None:
    match kind:
        case b"string":
            pipe.get(name)
        case b"hash":
            pipe.hgetall(name)
        case b"list":
            pipe.lrange(name, 0, -1)
        case b"zset":
            pipe.zrange(name, 0, -1, withscores=True)
        case b"stream":
            pipe.xrange(name)
        case b"none":
            pass
        case _:
            raise CopyError(f"expected strings, hashes, lists, sorted sets and streams, got a {kind.decode()}")


def _write(pipe: Pipeline, name: bytes, kind: bytes, value: Any) -> None:
    match kind:
        case b"string" if value is not None:
            pipe.set(name, value)
        case b"hash":
            for part in _parts(list(value.items())):
                pipe.hset(name, mapping=dict(part))
        case b"list":
            for part in _parts(value):
                pipe.rpush(name, *part)
        case b"zset":
            for part in _parts(value):
                pipe.zadd(name, cast("dict[Any, float]", dict(part)))
        case b"stream":
            for entry_id, fields in value:
                pipe.xadd(name, fields, id=entry_id)


def _parts(items: list[Any]) -> Iterator[list[Any]]:
    for start in range(0, len(items), _ITEMS):
        yield items[start : start + _ITEMS]
