"""What readers are shown of a game: built up from what they may know, never cut down from what there is."""

from __future__ import annotations

import hashlib
from typing import Any, Final

import msgspec

from bot_sdk.results.values import GameState, Slot
from service.referee.table import Table
from service.store.clock import Moment
from service.store.entities import Game, Seat

STOPPED: Final = {GameState.CANCELLED, GameState.ABORTED}
"""How games end that are stopped from outside; their rules know nothing of it."""


def summary(meta: Game, *, is_readable: bool) -> dict[str, Any]:
    """Show a game as lists do; when it ended only if it is readable."""
    return {
        "id": meta.id,
        "ruleset": meta.ruleset,
        "state": meta.state.value,
        "seats": [_seat(seat) for seat in meta.seats],
        "created_at": meta.created_at,
        "started_at": meta.started_at,
        "ended_at": meta.ended_at if is_readable else None,
        "readable": is_readable,
        **_slot(meta.slot),
    }


def game(meta: Game, table: Table | None) -> dict[str, Any]:
    """Show a game to everybody; without a table it hasn't begun."""
    retired = table.game.retired_as_known(None) if table else [None] * len(meta.seats)
    shown = {
        **summary(meta, is_readable=True),
        "seats": [{**_seat(seat), "retired": why} for seat, why in zip(meta.seats, retired, strict=True)],
        **_fixed(meta),
        "version": version(meta, None, None),
        "phase": None,
        "turn": [],
        "observation": None,
        "totals": [0] * len(meta.seats),
        "places": None,
        "ended_by": None,
    }
    return shown | (_standing(meta, table, None) if table else {})


def covered(meta: Game) -> dict[str, Any]:
    """Show a game on an open board to everybody: who plays it by which rules, and its state."""
    return {
        **summary(meta, is_readable=False),
        "seats": [{**_seat(seat), "retired": None} for seat in meta.seats],
        **_fixed(meta),
        "version": 0,
        "phase": None,
        "turn": [],
        "observation": None,
        "totals": None,
        "places": None,
        "ended_by": None,
    }


def deadline(meta: Game, table: Table | None, number: int, moment: Moment) -> int | None:
    """Give until when a seat may decide by the clock at this moment; None if it owes nothing."""
    return table.deadline(number, moment) if table is not None and owes(meta, table, number) else None


def is_called(meta: Game, table: Table | None, number: int) -> bool:
    """Whether a seat need wait for a decision no longer: it owes one, it has retired, or the game has ended."""
    if table is None or meta.state.is_end:
        return meta.state.is_end
    return table.game.is_out(number) or owes(meta, table, number)


def seat(meta: Game, table: Table | None, number: int, deadline: int | None) -> dict[str, Any]:
    """Show a game to one of its seats, with what it owes, and until when."""
    shown: dict[str, Any] = {
        "game_id": meta.id,
        "seat": number,
        "state": meta.state.value,
        "version": version(meta, None, None),
        "phase": None,
        "turn": [],
        "decision_id": None,
        "legal_actions": [],
        "deadline": None,
        "observation": None,
        "totals": [0] * len(meta.seats),
        "places": None,
        "ended_by": None,
        "retired": None,
        "last": None,
    }
    if table is None:
        return shown
    last = table.game.last[number]
    shown |= _standing(meta, table, number)
    shown["retired"] = table.game.retired[number]
    shown["last"] = last and {"action": last.action, "outcome": last.outcome.value, "ms": last.ms}
    if owes(meta, table, number):
        shown["decision_id"] = table.decision_id(number)
        shown["legal_actions"] = table.game.state.legal_actions(number)
        shown["deadline"] = deadline
    return shown


def owes(meta: Game, table: Table, number: int) -> bool:
    """Whether the seat owes a decision now."""
    return meta.state is GameState.RUNNING and number in table.game.owed() and not table.game.is_out(number)


def version(meta: Game, table: Table | None, audience: int | None) -> int:
    """Count what the audience has been able to see; a game stopped from outside has shown one thing more."""
    return (table.game.version(audience) if table else 0) + (meta.state in STOPPED)


def tag(meta: Game, table: Table | None, audience: int | None) -> str:
    """Name what the audience sees now: its version and the game's state, and who sits where.

    Who sits there changes after the start, too, when an account is erased; but then seats aren't told it.
    """
    shown = f"{version(meta, table, audience)}.{meta.state.value}"
    if table is not None and audience is not None:
        return shown
    seats = msgspec.json.encode([_seat(seat) for seat in meta.seats])  # as shown: a bot's address isn't
    return f"{shown}.{hashlib.sha256(seats).hexdigest()[:16]}"


def events(meta: Game, table: Table | None, after: int = 0) -> list[dict[str, Any]]:
    """List the public events after the one with that id, in order, each with its id from 1."""
    news = table.game.news if table else []
    if meta.state in STOPPED:
        totals = table.game.state.totals if table else [0] * len(meta.seats)
        news = [*news, {"event": "ended", "ended_by": None, "totals": totals, "places": None}]
    return [{"id": number, **each} for number, each in enumerate(news[after:], after + 1)]


def _standing(meta: Game, table: Table, audience: int | None) -> dict[str, Any]:
    play, state = table.game, table.game.state
    ending = play.ending
    return {
        "version": version(meta, table, audience),
        "phase": state.phase if meta.state is GameState.RUNNING else "over",
        "turn": state.turn(audience) if meta.state is GameState.RUNNING and not play.is_over else [],
        "observation": state.observe(audience),
        "totals": state.totals,
        "places": play.places,
        "ended_by": ending.value if ending else None,
    }


def _fixed(meta: Game) -> dict[str, Any]:
    """Give what is fixed at the creation of a game, other than who plays."""
    return {
        "options": meta.options,
        "limits": msgspec.to_builtins(meta.limits),
        "start": meta.start,
        "label": meta.label,
        "commitment": meta.commitment,
    }


def _seat(shown: Seat) -> dict[str, Any]:
    return {
        "kind": shown.kind,
        "name": shown.name,
        "bot_id": shown.bot_id,
        "version": shown.version,
    }


def _slot(slot: Slot | None) -> dict[str, Any]:
    return {
        "tournament_id": slot.tournament_id if slot else None,
        "round": slot.round if slot else None,
        "table": slot.table if slot else None,
        "leg": slot.leg if slot else None,
        "board": slot.board if slot else None,
    }
