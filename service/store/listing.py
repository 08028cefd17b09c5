"""Lists that are read page by page, newest first: sorted sets ordered by their members' own bytes.

A member is `<ms, 15 digits>:<id>`, all of them with score 0, so the order is total, also among things made in
the same millisecond, and a cursor is simply the last member given. Adding is idempotent. A member may carry
its value after a space; a cursor leaves that out.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING, Protocol, TypeVar, cast

from service.store.errors import BadCursorError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from redis import Redis

LONGEST_CURSOR = 300
_MEMBER = re.compile(rb"\d{15}:[\x21-\x7e]{1,200}")
STAMP = 16
"""Characters of a member before its name."""
_PAGE = 200
_MOST_PAGES = 10


class Listed(Protocol):
    """What a list is made of."""

    @property
    def id(self) -> str:
        """The id that the list holds."""

    @property
    def created_at(self) -> int:
        """The Unix millisecond by which it is listed."""


T = TypeVar("T", bound=Listed)


def member(created_at: int, name: str) -> str:
    """Give the member that stands for the thing `name` made at `created_at` (Unix ms)."""
    return f"{created_at:015d}:{name}"


def name_of(listed: str) -> str:
    """Give the name of the thing that a member stands for."""
    return listed[STAMP:]


def page(redis: Redis, key: str, *, limit: int, cursor: str | None) -> tuple[list[str], str | None]:
    """Give up to `limit` names that come after `cursor`, newest first, and the next cursor, None at the end.

    Raises BadCursorError for a cursor that no list gave.
    """
    members, following = _members(redis, key, limit, cursor)
    return [each[STAMP:] for each in members], following


def _members(redis: Redis, key: str, limit: int, cursor: str | None) -> tuple[list[str], str | None]:
    last = "+" if cursor is None else b"(" + decoded(cursor)
    told = redis.zrange(key, last, "-", desc=True, bylex=True, offset=0, num=limit + 1)
    found = cast("list[bytes]", told)
    members = [item.decode() for item in found[:limit]]
    return members, encoded(found[limit - 1]) if len(found) > limit else None


def oldest(redis: Redis, key: str, *, before: int, after: str | None, limit: int) -> list[str]:
    """Give up to `limit` members made before the Unix ms `before`, oldest first, from the one that follows `after`."""
    first = "-" if after is None else f"({after}"
    told = redis.zrange(key, first, f"({before:015d}", bylex=True, offset=0, num=limit)
    return [item.decode() for item in cast("list[bytes]", told)]


def select(
    redis: Redis,
    key: str,
    read: Callable[[Sequence[str]], Sequence[T | None]],
    *,
    limit: int,
    cursor: str | None,
    keep: Callable[[T], bool] | None = None,
) -> tuple[list[T], str | None]:
    """Give up to `limit` things that `keep` likes (by default all), newest first, and the next cursor.

    Looks at the next 2,000 at most, so a page may be short, or empty, and the list still go on. A thing is listed
    before it exists: one whose creation a crash cut short, and that was made later after all, stands in the list
    twice, and is given where its own time says.
    """
    found: list[T] = []
    for _ in range(_MOST_PAGES):
        members, cursor = _members(redis, key, _PAGE if keep else limit, cursor)
        items = zip(members, read([each[STAMP:] for each in members]), strict=True)
        standing = [item for at, item in items if item is not None and member(item.created_at, item.id) == at]
        found += [item for item in standing if keep is None or keep(item)]
        if len(found) >= limit or cursor is None:
            break
    if len(found) > limit:
        last = found[limit - 1]
        return found[:limit], encoded(member(last.created_at, last.id).encode())
    return found, cursor


def encoded(last: bytes) -> str:
    """Give the cursor that goes on after the member `last`."""
    return base64.urlsafe_b64encode(last.partition(b" ")[0]).rstrip(b"=").decode()


def decoded(cursor: str) -> bytes:
    """Give the member a cursor stands for. Raises BadCursorError."""
    if len(cursor) <= LONGEST_CURSOR:
        try:
            last = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            last = b""
        if _MEMBER.fullmatch(last):
            return last
    raise BadCursorError(f"expected a cursor that a list gave as next_cursor, got {cursor[:40]!r}")
