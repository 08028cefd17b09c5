"""What readers are shown of a game: built up from what they may know, never cut down from what there is."""

from __future__ import annotations

from typing import Any

import msgspec

from service.referee.table import Table
from service.store.entities import Game, GameState, Seat, Slot


def summary(meta: Game) -> dict[str, Any]:
    """Show a game as lists do."""
    return {
        "id": meta.id,
        "ruleset": meta.ruleset,
        "state": meta.state.value,
        "seats": [_seat(seat) for seat in meta.seats],
        "created_at": meta.created_at,
        "started_at": meta.started_at,
        "ended_at": meta.ended_at,
        **_slot(meta.slot),
    }


def game(meta: Game, table: Table | None) -> dict[str, Any]:
    """Show a game to everybody; without a table it hasn't begun."""
    shown = {
        **summary(meta),
        "options": meta.options,
        "limits": msgspec.to_builtins(meta.limits),
        "start": meta.start,
        "label": meta.label,
        "commitment": meta.commitment,
        "version": 0,
        "phase": None,
        "turn": [],
        "observation": None,
        "totals": [0] * len(meta.seats),
        "places": None,
        "ended_by": None,
    }
    if table is None:
        return shown
    for seat, each in enumerate(shown["seats"]):
        each["retired"] = table.game.retired[seat]
    return {**shown, **_standing(meta, table, None)}


def seat(meta: Game, table: Table | None, number: int) -> dict[str, Any]:
    """Show a game to one of its seats, with what it owes."""
    shown: dict[str, Any] = {
        "game_id": meta.id,
        "seat": number,
        "state": meta.state.value,
        "version": 0,
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
    if owes(table, number):
        shown["decision_id"] = table.decision_id(number)
        shown["legal_actions"] = table.game.state.legal_actions(number)
        shown["deadline"] = table.deadline(number)
    return shown


def owes(table: Table, number: int) -> bool:
    """Whether the seat owes a decision now."""
    return table.meta.state is GameState.RUNNING and number in table.game.owed() and not table.game.is_out(number)


def version(table: Table, audience: int | None) -> int:
    """Count what the audience has been able to see; a game stopped from outside has shown one thing more."""
    stopped = table.meta.state in {GameState.CANCELLED, GameState.ABORTED}
    return table.game.version(audience) + stopped


def events(table: Table) -> list[dict[str, Any]]:
    """List the public events in order, each with its id from 1."""
    news = table.game.news
    if table.meta.state in {GameState.CANCELLED, GameState.ABORTED}:
        ended = {"event": "ended", "ended_by": None, "totals": table.game.state.totals, "places": None}
        news = [*news, ended]
    return [{"id": number, **each} for number, each in enumerate(news, 1)]


def _standing(meta: Game, table: Table, audience: int | None) -> dict[str, Any]:
    play, state = table.game, table.game.state
    ending = play.ending
    return {
        "version": version(table, audience),
        "phase": state.phase if meta.state is GameState.RUNNING else "over",
        "turn": state.turn(audience) if meta.state is GameState.RUNNING and not play.is_over else [],
        "observation": state.observe(audience),
        "totals": state.totals,
        "places": play.places,
        "ended_by": ending.value if ending else None,
    }


def _seat(shown: Seat) -> dict[str, Any]:
    return {
        "kind": shown.kind,
        "name": shown.name,
        "bot_id": shown.bot_id,
        "version": shown.version,
        "retired": None,
    }


def _slot(slot: Slot | None) -> dict[str, Any]:
    return {
        "tournament_id": slot.tournament_id if slot else None,
        "round": slot.round if slot else None,
        "table": slot.table if slot else None,
        "leg": slot.leg if slot else None,
        "board": slot.board if slot else None,
    }
