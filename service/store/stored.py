"""Reads what is stored of a game: the fields of its hash, the lines of its log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from bot_sdk.events import Event
from bot_sdk.results.values import GameState
from service.store.entities import Game, Seat
from service.store.errors import DamagedError

if TYPE_CHECKING:
    from collections.abc import Sequence

Log = list[tuple[int, Event]]
"""Events in order, each with the Redis millisecond of its commit."""

_game = msgspec.json.Decoder(Game)
_seat = msgspec.json.Decoder(Seat)
_event: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)


def as_game(fields: dict[bytes, bytes]) -> Game | None:
    """Give a game from its fields, None if there is no body; raises DamagedError."""
    try:
        return _decoded(fields) if b"body" in fields else None
    except (msgspec.DecodeError, KeyError, ValueError) as error:
        raise DamagedError(f"expected a game: {error!r}") from error


def _decoded(fields: dict[bytes, bytes]) -> Game:
    """Lay what has changed since over the body."""
    game = _game.decode(fields[b"body"])
    changes: dict[str, Any] = {"state": GameState(fields[b"state"].decode())}
    changes |= {name: int(fields[name.encode()]) for name in ("started_at", "ended_at") if name.encode() in fields}
    if any(name.startswith((b"seat:", b"entropy:")) for name in fields):
        places = range(len(game.seats))
        changes["seats"] = [_later_seat(fields.get(b"seat:%d" % n), game.seats[n]) for n in places]
        entropy = [fields.get(b"entropy:%d" % n) for n in places]
        changes["entropy"] = [old if e is None else e.decode() for e, old in zip(entropy, game.entropy, strict=True)]
    return replace(game, **changes)


def _later_seat(value: bytes | None, seat: Seat) -> Seat:
    return seat if value is None else _seat.decode(value)


def as_log(lines: Sequence[bytes]) -> Log:
    """Give the events of a log from its lines; raises DamagedError."""
    parted = (line.partition(b" ") for line in lines)
    try:
        return [(int(at), _event.decode(event)) for at, _, event in parted]
    except (msgspec.DecodeError, ValueError) as error:
        raise DamagedError(f"expected a log of events: {error}") from error
