"""The bots that take part in a tournament."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, fields

from bot_sdk.results.values import Entry
from service.api.auth import organiser, public
from service.api.context import caller, services
from service.api.fields import PageArgs, page_of
from service.api.paging import page
from service.api.resource import Resource
from service.arena.caller import Caller, Scope
from service.store.entities import Tournament

blp = Resource("entries", description="The bots that take part in a tournament.")


class EntryNew(Schema):
    """A bot that takes part."""

    entropy = fields.String(metadata={"description": "Goes into the shuffle of every board: at most 256 bytes."})


class EntryView(Schema):
    """A bot in a tournament."""

    bot_id = fields.String(required=True)
    name = fields.String(required=True)
    account_id = fields.String(required=True, allow_none=True)
    entropy = fields.String(
        required=True, allow_none=True, metadata={"description": "Until the start for the bot's owner alone."}
    )
    entered_at = fields.Integer(required=True)
    withdrawn_at = fields.Integer(required=True, allow_none=True)


EntryList = page_of(EntryView, "EntryList")


@blp.get("/v1/tournaments/<tournament:tournament_id>/entries", who=public())
@blp.arguments(PageArgs, location="query")
@blp.response(200, EntryList)
def list_entries(query: dict[str, Any], tournament_id: str) -> dict[str, Any]:
    """List the bots that take part, in order of their ids, withdrawn ones too."""
    tournament = services().tournaments.get(tournament_id)
    entries = services().tournaments.entries(tournament_id)
    return page([_entry_view(tournament, entry, caller()) for entry in entries], query)


@blp.get("/v1/tournaments/<tournament:tournament_id>/entries/<bot:bot_id>", who=public())
@blp.response(200, EntryView)
def show_entry(tournament_id: str, bot_id: str) -> dict[str, Any]:
    """Show how a bot takes part."""
    entry = services().tournaments.entry(tournament_id, bot_id)
    return _entry_view(services().tournaments.get(tournament_id), entry, caller())


@blp.put("/v1/tournaments/<tournament:tournament_id>/entries/<bot:bot_id>", who=organiser(Scope.TOURNAMENTS))
@blp.arguments(EntryNew)
@blp.response(200, EntryView)
@blp.fails(409, "The tournament has begun or is full, or the bot can't play in it.")
def enter_bot(body: dict[str, Any], tournament_id: str, bot_id: str) -> dict[str, Any]:
    """Enter a bot.

    Its owner may, and who made the tournament; a house bot is entered by who made the tournament. Doing it again
    changes the entropy, if there is one in the body; that of a registered bot is its owner's alone to give.
    """
    entry = services().tournaments.enter(caller(), tournament_id, bot_id, body.get("entropy"))
    return _entry_view(services().tournaments.get(tournament_id), entry, caller())


@blp.delete("/v1/tournaments/<tournament:tournament_id>/entries/<bot:bot_id>", who=organiser(Scope.TOURNAMENTS))
@blp.response(204)
@blp.fails(409, "The tournament has ended.")
def withdraw_bot(tournament_id: str, bot_id: str) -> None:
    """Withdraw a bot.

    Before the start it is out; after it, games that run go on and those that wait are forfeited.
    """
    services().tournaments.withdraw(caller(), tournament_id, bot_id)


def _entry_view(tournament: Tournament, entry: Entry, asking: Caller) -> dict[str, Any]:
    is_shown = tournament.started_at is not None or asking.owns(entry.account_id) or asking.is_operator
    return {
        "bot_id": entry.bot_id,
        "name": entry.name,
        "account_id": entry.account_id,
        "entropy": entry.entropy if is_shown else None,
        "entered_at": entry.entered_at,
        "withdrawn_at": entry.withdrawn_at,
    }
