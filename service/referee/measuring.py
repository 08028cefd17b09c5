"""What is counted of decisions, once they stand in a log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from bot_sdk.bots import PREFIX
from bot_sdk.events import Decided, Event
from service.metrics.meters import Meters
from service.metrics.tallies import Labels
from service.outbound.values import Endpoint
from service.referee.table import BOT, Table
from service.store.entities import Transport, transport_of

PULL: Final = "pull"
HTTP: Final = "http"


def note_decisions(meters: Meters, table: Table, events: Iterable[Event]) -> None:
    """Note how long each decision among these events took, by who decides there and how that went."""
    meters.decisions.note_many(_timed(table, events))


def kind_asked(endpoint: Endpoint) -> str:
    """Say how a bot is asked: by HTTP, by mail, or as a house bot that thinks."""
    if endpoint.bot_id.startswith(PREFIX):
        return "house"
    return PULL if endpoint.is_pull else HTTP


def _timed(table: Table, events: Iterable[Event]) -> Iterator[tuple[float, Labels]]:
    kinds = table.kinds
    for event in events:
        if isinstance(event, Decided):
            kind = kinds[event.seat]
            if kind == BOT:
                url = table.meta.seats[event.seat].url
                kind = PULL if url and transport_of(url) is Transport.PULL else HTTP
            yield event.ms / 1000, (kind, event.outcome.value)
