"""Server-sent events: what happens, as it happens, over one answer that stays open.

Each message carries an `id`, so a client that lost its connection sends the last one as `Last-Event-ID` and misses
nothing. A stream ends after the last message there can be, after a while anyway, and when the process is to stop:
clients come back by themselves.
Whoever comes back after the last message is answered 204, which tells browsers to stop.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from time import monotonic
from typing import Any, Final

from flask import Flask, Response, current_app, request

from service.api import waiting
from service.api.direct import Direct
from service.api.fan import Fan, Fans, Found, Reader
from service.api.problems import Problem
from service.store.watch import Watch

HEARTBEAT_S: Final = 15.0
"""How long a stream is silent before it says that it is still there; a broken connection shows at the latest then."""
LIFE_S: Final = 600.0
"""How long one answer goes on."""
RETRY_MS: Final = 1_000
"""What clients are told to wait before they come back."""

EVENT_STREAM: Final = "text/event-stream"
DOCUMENTED: Final[dict[str, Any]] = {
    "schema": {
        "type": "object",
        "description": "One message.",
        "properties": {
            "id": {"type": "string"},
            "data": {"type": "string", "contentMediaType": "application/json"},
        },
    },
    "content_type": EVENT_STREAM,
    "description": "Messages with `id` and `data` (JSON), and comments while nothing happens.",
}
LAST_EVENT_ID: Final = {
    "name": "Last-Event-ID",
    "in": "header",
    "description": "The `id` of the last message that came; those after it follow.",
    "schema": {"type": "string", "pattern": "^[0-9]{0,15}$"},
}

Follow = Callable[[int, float], Found]
"""(id of the last message known, seconds to wait for another) -> what there is to tell then."""

_ID: Final = re.compile(r"[0-9]{1,15}", re.ASCII)
_EXTENSION: Final = "slagveld.fans"


def register(app: Flask, watch: Watch) -> None:
    """Give the app its fans."""
    app.extensions[_EXTENSION] = Fans(lambda: watch.is_closed)


def answer(name: str, follow: Follow, *, pause_s: float = 0) -> Response:
    """Answer with a stream of what `follow` gives, from after the client's Last-Event-ID; it is called at once, too.

    All streams of one `name` tell the same. `pause_s` is how long to rest after a message.
    """
    seen = _seen()
    found = follow(seen, 0)
    if not found.more and not found.after(seen):
        return current_app.response_class(status=204)
    streamed = current_app.response_class(content_type=EVENT_STREAM)
    if request.method != "HEAD":  # whose answer has no parts, and is never closed
        streamed.call_on_close(waiting.stream())
        fans = current_app.extensions[_EXTENSION]
        join = partial(fans.join, name, lambda newest: follow(newest, HEARTBEAT_S), pause_s)
        streamed.response = _stream(join, fans.leave, found, Reader(seen, Direct.of(request.environ)))
    streamed.headers.update({"Cache-Control": "no-cache", "X-Accel-Buffering": "no"})
    return streamed


def _seen() -> int:
    given = request.headers.get("Last-Event-ID") or "0"
    if not _ID.fullmatch(given):
        raise Problem(422, f"expected Last-Event-ID to be the id of a message, got {given!r:.40}")
    return int(given)


def _stream(
    join: Callable[[Found], Fan], leave: Callable[[Fan], None], found: Found, reader: Reader
) -> Iterator[bytes]:
    ends = monotonic() + LIFE_S
    yield b"retry: %d\n\n" % RETRY_MS
    if first := reader.given(found):
        yield first
    if not found.more:
        return
    fan = join(found)
    del found, first  # a fan keeps the latest; each of its readers his first would be many
    try:
        while part := fan.next(reader, ends):
            yield part
    finally:
        leave(fan)
