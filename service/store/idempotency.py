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
    from collections.abc import Callable, Collection

    from redis import Redis

IN_FLIGHT_MS = 30_000
KEPT_MS = 24 * 3600 * 1000
_SCANNED = 2_000


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
    account_id: str = ""
    answer: Answer | None = None


_answer = msgspec.msgpack.Decoder(Answer)


class Idempotency:
    """All requests under a key. `nonce` gives a word that is new each time."""

    def __init__(self, redis: Redis, *, nonce: Callable[[], str] = lambda: secrets.token_hex(8)) -> None:
        self._redis = redis
        self._scripts = Scripts(redis)
        self._nonce = nonce

    def begin(self, key: str, fingerprint: str, *, account_id: str = "", in_flight_ms: int = IN_FLIGHT_MS) -> Begun:
        """Open the request `key`, whose body has this fingerprint.

        `key` should name account, resource and the client's key; it may be of any length. `account_id` is who asks,
        if that is an account.
        """
        token = self._nonce()
        told = self._scripts.run("begin", [_name(key)], [fingerprint, token, in_flight_ms, account_id])
        status = cast("Literal['new', 'stored', 'in_flight', 'conflict']", told[0].decode())
        answer = _answer.decode(told[1]) if status == "stored" else None
        return Begun(status, key, fingerprint, token, account_id, answer)

    def finish(self, begun: Begun, answer: Answer, *, kept_ms: int = KEPT_MS) -> bool:
        """Keep the answer; False if another try took over since, whose answer will count."""
        args: Args = [begun.fingerprint, begun.token, msgspec.msgpack.encode(answer), kept_ms, begun.account_id]
        return bool(self._scripts.run("finish", [_name(begun.key)], args))

    def abandon(self, begun: Begun) -> None:
        """Forget a request that had no effect, such as one that was refused."""
        self._scripts.run("abandon", [_name(begun.key)], [begun.token])

    def forget(self, account_id: str, ids: Collection[str], cursor: int) -> int:
        """Forget the answers that an account got, and those that hold any of `ids`, a part of all at a time.

        Begins at cursor 0; gives the cursor to go on with, 0 at the end.
        """
        following, found = self._redis.scan(cursor, match=keys.idempotent("*"), count=_SCANNED)
        with self._redis.pipeline(transaction=False) as pipe:
            for name in found:
                pipe.hmget(name, "account", "answer")
            kept = pipe.execute()
        sought = [each.encode() for each in ids]
        doomed = [
            name
            for name, (account, answer) in zip(found, kept, strict=True)
            if account == account_id.encode() or (answer and any(each in answer for each in sought))
        ]
        if doomed:
            self._redis.delete(*doomed)
        return int(following)


def _name(key: str) -> str:
    return keys.idempotent(hashlib.sha256(key.encode()).hexdigest())
