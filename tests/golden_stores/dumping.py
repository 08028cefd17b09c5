"""A whole store as lines of JSON, and back: one key a line, in the order of their names.

What runs out within a day isn't kept: leases, locks, mail, kept answers. Of the rest the time left is kept, not the
time of day, so that a store is the same whenever it is loaded. Where bots are is written `{name}`.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from redis import Redis

DAY_MS = 86_400_000
_FOR_EVER = -1


def dump(redis: Redis, places: Mapping[str, str]) -> Iterator[str]:
    """Give the lines of a store; `places` are names by URL."""
    for name in sorted(redis.scan_iter(count=1_000)):
        ttl = redis.pttl(name)
        if ttl == _FOR_EVER or ttl > DAY_MS:
            kind = redis.type(name).decode()
            line = [_text(name), kind, None if ttl == _FOR_EVER else ttl, _read(redis, name, kind)]
            yield _named(json.dumps(line, ensure_ascii=False, separators=(",", ":")), places)


def load(redis: Redis, lines: Iterable[str], places: Mapping[str, str]) -> None:
    """Fill an empty store; `places` are URLs by name."""
    assert redis.dbsize() == 0
    for line in lines:
        for name, url in places.items():
            line = line.replace(f"{{{name}}}", url)  # noqa: PLW2901 - one after the other
        key, kind, ttl, value = json.loads(line)
        _write(redis, _bytes(key), kind, value)
        if ttl is not None:
            redis.pexpire(_bytes(key), ttl)


def put(path: Path, text: str) -> None:
    """Write a file that is the same whenever it is made of the same text."""
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def get(path: Path) -> str:
    return gzip.decompress(path.read_bytes()).decode()


def _named(line: str, places: Mapping[str, str]) -> str:
    for url, name in places.items():
        line = line.replace(url, f"{{{name}}}")
    return line


def _read(redis: Redis, name: bytes, kind: str) -> Any:
    match kind:
        case "string":
            return _text(redis.get(name))
        case "hash":
            return [[_text(field), _text(value)] for field, value in sorted(redis.hgetall(name).items())]
        case "list":
            return [_text(value) for value in redis.lrange(name, 0, -1)]
        case "zset":
            return [[_text(member), score] for member, score in redis.zrange(name, 0, -1, withscores=True)]
    raise ValueError(f"expected a string, hash, list or sorted set, got a {kind}")


def _write(redis: Redis, name: bytes, kind: str, value: Any) -> None:
    match kind:
        case "string":
            redis.set(name, _bytes(value))
        case "hash":
            redis.hset(name, mapping={_bytes(field): _bytes(each) for field, each in value})
        case "list":
            redis.rpush(name, *map(_bytes, value))
        case "zset":
            redis.zadd(name, {_bytes(member): score for member, score in value})


def _text(raw: bytes) -> Any:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return [base64.b64encode(raw).decode()]


def _bytes(text: Any) -> bytes:
    return base64.b64decode(text[0]) if isinstance(text, list) else text.encode()
