"""Pages of lists that are short enough to be read whole: rulesets, tokens, entries, rounds."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from service.store.errors import BadCursorError

T = TypeVar("T")
_CURSOR = re.compile(r"after-([0-9]{1,6})", re.ASCII)


def page(items: Sequence[T], query: Mapping[str, Any]) -> dict[str, Any]:
    """Cut the page that a query (of `fields.PageArgs`) asks for out of all items; raises BadCursorError."""
    start = _start(query["cursor"])
    end = start + query["limit"]
    return {"items": list(items[start:end]), "next_cursor": f"after-{end}" if end < len(items) else None}


def _start(cursor: str | None) -> int:
    if cursor is None:
        return 0
    match = _CURSOR.fullmatch(cursor)
    if match is None:
        raise BadCursorError("expected a cursor that this list answered as next_cursor")
    return int(match[1])
