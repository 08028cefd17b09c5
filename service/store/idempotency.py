"""Lets a request that is sent again (`Idempotency-Key`) have its effect once, and get the same answer.

A try that dies in between leaves the request open for half a minute; the next one is then `new`. Whoever
makes something under a key should therefore derive its id from the key: what the dead try made is then found,
not doubled.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import TYPE_CHECKING, Literal, cast

import msgspec

from service.store import keys
from service.store.lua import Args, Scripts

if TYPE_CHECKING:
    from collections.abc import Callable

    from redis import Redis

IN_FLIGHT_MS = 30_000
KEPT_MS = 24 * 3600 * 1000


class Answer(msgspec.Struct, frozen=True):
    """An answer of the API as it went out."""

    status: int
    headers: dict[str, str]
    body: bytes


class Begun(msgspec.Struct, frozen=True):
    """What became of a request so far.

    `new`: do it, then `finish` or `abandon`. `stored`: here is the answer. `in_flight`: another try is at it.
    `conflict`: the key was used for another body.
    """

    status: Literal["new", "stored", "in_flight", "conflict"]
    key: str
    fingerprint: str
    token: str
    answer: Answer | None = None


_answer = msgspec.msgpack.Decoder(Answer)


class Idempotency:
    """All requests under a key. `nonce` gives a word that is new each time."""

    def __init__(self, redis: Redis, *, nonce: Callable[[], str] = lambda: secrets.token_hex(8)) -> None:
        self._scripts = Scripts(redis)
        self._nonce = nonce

    def begin(self, key: str, fingerprint: str, *, in_flight_ms: int = IN_FLIGHT_MS) -> Begun:
        """Open the request `key`, whose body has this fingerprint.

        `key` should name account, resource and the client's key; it may be of any length.
        """
        token = self._nonce()
        told = self._scripts.run("begin", [_name(key)], [fingerprint, token, in_flight_ms])
        status = cast("Literal['new', 'stored', 'in_flight', 'conflict']", told[0].decode())
        return Begun(status, key, fingerprint, token, _answer.decode(told[1]) if status == "stored" else None)

    def finish(self, begun: Begun, answer: Answer, *, kept_ms: int = KEPT_MS) -> bool:
        """Keep the answer; False if another try took over since, whose answer will count."""
        args: Args = [begun.fingerprint, begun.token, msgspec.msgpack.encode(answer), kept_ms]
        return bool(self._scripts.run("finish", [_name(begun.key)], args))

    def abandon(self, begun: Begun) -> None:
        """Forget a request that had no effect, such as one that was refused."""
        self._scripts.run("abandon", [_name(begun.key)], [begun.token])


def _name(key: str) -> str:
    return keys.idempotent(hashlib.sha256(key.encode()).hexdigest())
