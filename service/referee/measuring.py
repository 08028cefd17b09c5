"""What is counted of decisions, once they stand in a log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from bot_sdk.bots import PREFIX
from bot_sdk.events import Decided, Event, Outcome
from service.metrics.meters import Meters
from service.metrics.tallies import Labels
from service.outbound.values import Endpoint
from service.referee.table import BOT, HOUSE, HUMAN, Table
from service.store.entities import Seat, Transport, transport_of

PULL: Final = "pull"
HTTP: Final = "http"
_WELL: Final[dict[str, Labels]] = {kind: (kind, Outcome.OK.value) for kind in (HTTP, PULL, HOUSE, HUMAN)}
"""The labels of nearly all decisions, made once."""


def note_decisions(meters: Meters, made: Iterable[tuple[Table, Iterable[Event]]]) -> None:
    """Note how long each decision among these events took, by who decides there and how that went."""
    meters.decisions.note_many(_timed(made))


def kind_asked(endpoint: Endpoint) -> str:
    """Say how a bot is asked: by HTTP, by mail, or as a house bot that thinks."""
    if endpoint.bot_id.startswith(PREFIX):
        return HOUSE
    return PULL if endpoint.is_pull else HTTP


def _timed(made: Iterable[tuple[Table, Iterable[Event]]]) -> Iterator[tuple[float, Labels]]:
    for table, events in made:
        seats = table.meta.seats
        for event in events:
            if isinstance(event, Decided):
                kind = _kind(seats[event.seat])
                is_well = event.outcome is Outcome.OK  # a name of an enumeration costs more than all the rest
                yield event.ms / 1000, _WELL[kind] if is_well else (kind, event.outcome.value)


def _kind(seat: Seat) -> str:
    if seat.kind != BOT:
        return seat.kind
    return PULL if seat.url and transport_of(seat.url) is Transport.PULL else HTTP
