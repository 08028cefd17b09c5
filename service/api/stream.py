"""Server-sent events: what happens, as it happens, over one answer that stays open.

Each message carries an `id`, so a client that lost its connection sends the last one as `Last-Event-ID` and misses
nothing. A stream ends after the last message there can be, after a while anyway, and when the process is to stop:
clients come back by themselves.
Whoever comes back after the last message is answered 204, which tells browsers to stop.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from time import monotonic, sleep
from typing import Any, Final

from flask import Response, current_app, request
from redis.exceptions import RedisError

from service.api import waiting
from service.api.context import services
from service.api.problems import Problem

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

Message = tuple[int, bytes]
"""The id of a message, which grows, and its data as JSON."""
Read = Callable[[int, float], tuple[list[Message], bool]]
"""(id of the last message seen, seconds to wait for another) -> the messages after it, and whether more may come."""

_ID = re.compile(r"[0-9]{1,15}", re.ASCII)
log = logging.getLogger(__name__)


def answer(read: Read, *, pause_s: float = 0) -> Response:
    """Answer with a stream of what `read` gives, from after the client's Last-Event-ID; it is called at once, too.

    `pause_s` is how long to rest after a message.
    """
    seen = _seen()
    messages, more = read(seen, 0)
    if not messages and not more:
        return current_app.response_class(status=204)
    streamed = current_app.response_class(content_type=EVENT_STREAM)
    if request.method != "HEAD":  # whose answer has no parts, and is never closed
        streamed.call_on_close(waiting.take())
        watch, until = services().store.watch, monotonic() + LIFE_S
        streamed.response = _stream(read, seen, lambda: 0.0 if watch.is_closed else until - monotonic(), pause_s)
    streamed.headers.update({"Cache-Control": "no-cache", "X-Accel-Buffering": "no"})
    return streamed


def _seen() -> int:
    given = request.headers.get("Last-Event-ID") or "0"
    if not _ID.fullmatch(given):
        raise Problem(422, f"expected Last-Event-ID to be the id of a message, got {given!r:.40}")
    return int(given)


def _stream(read: Read, seen: int, left_s: Callable[[], float], pause_s: float) -> Iterator[bytes]:
    yield b"retry: %d\n\n" % RETRY_MS
    more = True
    while more and (left := left_s()) > 0:
        try:
            messages, more = read(seen, min(HEARTBEAT_S, left))
        except RedisError as error:
            log.warning("a stream ends early: %s: %.200s", type(error).__name__, error)
            return
        if messages:
            seen = messages[-1][0]
            yield b"".join([b"id: %d\ndata: %b\n\n" % message for message in messages])
        elif more:
            yield b":\n\n"
        if more and messages and pause_s:
            sleep(pause_s)
