"""Keeps the audit logs: who did what, when, from where, and how it ended. Each log keeps its newest lines.

A line is written before the act and written anew after it; one that tells no `status` is of an act whose end nobody
saw, since the process died or the store went away.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, cast

import msgspec

from service.store import keys, listing
from service.store.documents import encode, encode_over
from service.store.lua import Scripts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from redis import Redis


class Log(StrEnum):
    """Whose acts; accounts have a log of their own, so that none can push out what the operator did."""

    OPERATOR = "operator"
    ACCOUNTS = "accounts"


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One act. `body` is its JSON as text, without secrets; `made` the id of what it made."""

    id: str
    created_at: int
    log: Log
    account_id: str | None = None
    operation: str
    path: str
    address: str | None
    body: str | None
    status: int | None = None
    made: str | None = None


_decode = msgspec.json.Decoder(Line).decode


class AuditStore:
    """The last `keep` acts of each log."""

    def __init__(self, redis: Redis, *, keep: int = 10_000) -> None:
        self._redis = redis
        self._scripts = Scripts(redis)
        self._keep = keep

    def put(self, line: Line) -> None:
        """Write a line, or write it anew."""
        names = [keys.audit(line.log), keys.audit_lines(line.log)]
        self._scripts.run("note", names, [listing.member(line.created_at, line.id), line.id, encode(line), self._keep])

    def lines(self, log: Log, *, limit: int, cursor: str | None = None) -> tuple[list[Line], str | None]:
        """Give up to `limit` lines, newest first, and the next cursor; or BadCursorError."""

        def read(ids: Sequence[str]) -> list[Line | None]:
            found = self._redis.hmget(keys.audit_lines(log), list(ids)) if ids else []
            return [None if raw is None else _decode(raw) for raw in cast("list[bytes | None]", found)]

        return listing.select(self._redis, keys.audit(log), read, limit=limit, cursor=cursor)

    def rewrite(self, edit: Callable[[Line], Line]) -> None:
        """Put `edit(line)` in the place of every line of both logs; one whose end is added meanwhile stays as it is."""
        for log in Log:
            key = keys.audit_lines(log)
            for name, raw in self._redis.hscan_iter(key, count=1_000):
                line = _decode(raw)
                edited = edit(line)
                if edited != line:
                    self._scripts.run("swap_fields", [key], [name, raw, encode_over(raw, edited)])
