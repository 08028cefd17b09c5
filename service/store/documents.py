"""Keeps values that are changed as a whole, each under a key of its own, by compare-and-set on its bytes.

The bytes begin with letters that are new for each write (see `scripts/put.lua`).
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Generic, TypeVar, cast

import msgspec

from service.store.errors import ContendedError, NotFoundError
from service.store.lua import Scripts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from redis import Redis

T = TypeVar("T", bound=msgspec.Struct)
_MOST_TRIES = 32
_LETTERS = 17

encode = msgspec.json.Encoder(order="deterministic").encode


def encode_over(seen: bytes, value: msgspec.Struct) -> bytes:
    """Encode what takes the place of a value that was seen, with the fields of it that we don't know.

    A newer release beside us has put them there, and they are none of our business. Those of values inside it are lost.
    """
    raw = msgspec.json.decode(seen)
    known = {field.encode_name for field in msgspec.structs.fields(type(value))}
    unknown = {name: raw[name] for name in raw.keys() - known}
    return encode({**msgspec.to_builtins(value), **unknown}) if unknown else encode(value)


class Documents(Generic[T]):
    """Values of one kind: `key` gives the key of an id; `told` its counter and channel, if one may wait.

    `nonce` gives 16 letters, new each time.
    """

    def __init__(
        self,
        redis: Redis,
        kind: type[T],
        key: Callable[[str], str],
        told: Callable[[str], tuple[str, str]] | None = None,
        *,
        nonce: Callable[[], str] = lambda: secrets.token_hex(8),
    ) -> None:
        self._redis = redis
        self._scripts = Scripts(redis)
        self._decode = msgspec.json.Decoder(kind).decode
        self._kind = kind.__name__.lower()
        self._key = key
        self._told = told
        self._nonce = nonce

    def create(self, name: str, value: T) -> bool:
        """Keep a new value; False if another has its id. True also if this very value is there already."""
        return self._put(name, b"", encode(value))

    def written(self, value: T) -> bytes:
        """Give the bytes that a value is kept as by this write, for scripts that keep more beside it."""
        return f"{self._nonce()} ".encode() + encode(value)

    def get(self, name: str) -> T | None:
        """Give the value, None if there is none."""
        return self.get_many([name])[0]

    def get_many(self, names: Sequence[str]) -> list[T | None]:
        """Give many values in one round trip, in the order asked."""
        if not names:
            return []
        found = cast("list[bytes | None]", self._redis.mget([self._key(name) for name in names]))
        return [None if raw is None else self._decode(raw[_LETTERS:]) for raw in found]

    def change(self, name: str, edit: Callable[[T], T]) -> T:
        """Replace the value by `edit(value)` and give the new one; `edit` runs again if somebody was faster.

        Raises NotFoundError, ContendedError, and what `edit` raises, which then changes nothing.
        """
        for _ in range(_MOST_TRIES):
            seen = cast("bytes | None", self._redis.get(self._key(name)))
            if seen is None:
                raise NotFoundError(f"there is no {self._kind} {name}")
            value = edit(self._decode(seen[_LETTERS:]))
            new = encode_over(seen[_LETTERS:], value)
            if new == seen[_LETTERS:] or self._put(name, seen, new):
                return value
        raise ContendedError(f"the {self._kind} {name} changed {_MOST_TRIES} times while we changed it")

    def _put(self, name: str, seen: bytes, value: bytes) -> bool:
        new = f"{self._nonce()} ".encode() + value
        if self._told is None:
            return bool(self._scripts.run("put", [self._key(name)], [seen, new]))
        counter, channel = self._told(name)
        return bool(self._scripts.run("put", [self._key(name), counter], [seen, new, channel]))
