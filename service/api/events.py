"""What happens in a game: its public events, listed or streamed, and the record at the end."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from typing import Any

import msgspec
from flask import Response, current_app
from marshmallow import Schema, fields

from bot_sdk.games import record
from service.api import conditional, stream, waiting
from service.api.auth import public
from service.api.context import services
from service.api.fan import Found
from service.api.fields import MAX_PAGE, Digits
from service.api.resource import Resource

blp = Resource("events", description="What happens in a game: public events, and the record at the end.")

MOST_EVENTS = 10**9
DIGEST = {
    "Repr-Digest": {
        "schema": {"type": "string"},
        "description": "The SHA-256 of the record (RFC 9530), by which a changed byte is seen where the record "
        "would still make sense.",
    }
}


class EventArgs(Schema):
    """Which events to list."""

    after = Digits(0, MOST_EVENTS, load_default=0, metadata={"description": "The `id` of the last event known."})
    cursor = Digits(0, MOST_EVENTS, load_default=0, metadata={"description": "`next_cursor`: the same as `after`."})
    limit = Digits(1, MAX_PAGE, load_default=MAX_PAGE)


class EventList(Schema):
    """Public events in order."""

    items = fields.List(
        fields.Dict(), required=True, metadata={"description": "Each with `id` and `event` (docs/contract.md)."}
    )
    next_cursor = fields.String(
        required=True, allow_none=True, metadata={"description": "Null once all there are now were listed."}
    )
    is_last = fields.Boolean(required=True, metadata={"description": "Whether nothing can follow these."})


@blp.get("/v1/games/<game:game_id>/events", who=public())
@blp.arguments(EventArgs, location="query")
@blp.response(200, EventList)
@blp.fails(409, "Other games are still played on its board.")
@blp.takes(conditional.PREFER)
def list_events(query: dict[str, Any], game_id: str) -> dict[str, Any]:
    """List what has happened in public, in order.

    A sealed bid is no event until all bids are revealed, a discard never. With `Prefer: wait=20` the answer waits
    until there is an event after `after`.
    """
    after = max(query["after"], query["cursor"])
    seconds = conditional.patience_s()
    with waiting.place(seconds):
        events, more = services().play.events(game_id, after, seconds)
    items = [msgspec.json.decode(event) for event in events[: query["limit"]]]
    rest = len(items) < len(events)
    return {
        "items": items,
        "next_cursor": str(items[-1]["id"]) if rest else None,
        "is_last": not more and not rest,
    }


@blp.get("/v1/games/<game:game_id>/stream", who=public())
@blp.response(200, **stream.DOCUMENTED)
@blp.may_answer(204, "The last event was seen already; nothing will follow.")
@blp.takes(stream.LAST_EVENT_ID)
def stream_game(game_id: str) -> Response:
    """Stream what happens in public.

    Server-sent events, each an event of `GET …/events` under its id. The stream ends after the last one. While other
    games are played on the game's board, it is silent, and begins when the last of them has ended. It isn't refused:
    browsers never ask again for a stream that was, and a page of live tables would have to watch each for itself.
    """
    play = services().play

    def follow(seen: int, seconds: float) -> Found:
        reading = play.follow(game_id, seen, seconds, is_new=not seconds)
        return Found(
            reading.version, lambda seen: [*enumerate(reading.events[seen:], seen + 1)], more=not reading.is_final
        )

    return stream.answer(game_id, follow)


@blp.get("/v1/games/<game:game_id>/record", who=public())
@blp.response(200, schema={"type": "object"}, description="A record of format 1 (docs/record.md).", headers=DIGEST)
@blp.fails(409, "The game hasn't ended, other games are still played on its board, or it ended before it began.")
def show_record(game_id: str) -> Response:
    """Give the record of a game that has ended.

    All of it: packs, every action and what was played for whom, and the secret that the packs were made from.
    """
    written = record.encode(services().play.record(game_id))
    digest = b64encode(hashlib.sha256(written).digest()).decode()
    headers = {"Cache-Control": "no-cache", "Repr-Digest": f"sha-256=:{digest}:"}
    return current_app.response_class(written, content_type="application/json", headers=headers)
