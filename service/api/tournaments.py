"""Tournaments: made, entered, started, followed, and their results read."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, fields, validate

from bot_sdk.games.registry import RULESETS
from service.api.auth import organiser, public
from service.api.context import caller, services
from service.api.fields import Name, PageArgs, Whole, page_of
from service.api.idempotency import idempotent
from service.api.orders import LimitsNew, LimitsShown, order_of
from service.api.resource import Resource
from service.arena.caller import Scope
from service.arena.minting import Mint
from service.store.entities import TournamentState

blp = Resource("tournaments", description="Many games between the same bots, and what they say about them.")

MAX_ROUNDS = 1_000
MAX_SEED = 2**53 - 1
_EXAMPLES = {
    "seven_up": {
        "summary": "Each plays each, twice with seats swapped",
        "value": {"name": "friday", "ruleset": "seven_up", "options": {"target": 7}, "rounds": 10},
    },
    "river": {
        "summary": "Balanced tables of four",
        "value": {"name": "river cup", "ruleset": "river", "table_size": 4, "rounds": 3, "seed": 7},
    },
}


class TournamentNew(LimitsNew):
    """A new tournament."""

    name = Name(required=True)
    ruleset = fields.String(required=True, validate=validate.Length(1, 32), metadata={"enum": list(RULESETS)})
    options = fields.Dict(
        keys=fields.String(),
        load_default=dict,
        metadata={"description": "As `GET /v1/rulesets/{name}` describes them; only default options are rated."},
    )
    format = fields.String(
        load_default="round_robin",
        validate=validate.OneOf(["round_robin"], error="expected round_robin, the one format there is, got {input!r}"),
        metadata={"description": "Each meets each: in pairs, or at tables that are drawn so that all meet alike."},
    )
    deals = fields.String(
        load_default="fresh",
        validate=validate.OneOf(["fresh"], error="expected fresh, the one kind of deals there is, got {input!r}"),
        metadata={"description": "A board, which is a series of packs, for every table."},
    )
    table_size = Whole(
        2, 8, load_default=None, allow_none=True, metadata={"description": "The fewest the game seats by default."}
    )
    rounds = Whole(
        1,
        MAX_ROUNDS,
        load_default=None,
        allow_none=True,
        metadata={"description": "By default as many as it takes that each pair can meet."},
    )
    seed = Whole(
        0, MAX_SEED, load_default=None, allow_none=True, metadata={"description": "For the draw; drawn by default."}
    )


class TournamentChange(Schema):
    """What to change of a tournament."""

    name = Name()
    rounds = Whole(1, MAX_ROUNDS, allow_none=True, metadata={"description": "Until the start."})


class TournamentStateNew(Schema):
    """Where to steer a tournament."""

    state = fields.String(required=True, validate=validate.OneOf(["running", "paused", "cancelled"]))


class Progress(Schema):
    """How far a tournament is."""

    games = fields.Integer(required=True, metadata={"description": "Scheduled so far; 0 before the draw."})
    finished = fields.Integer(required=True, metadata={"description": "With a result."})
    running = fields.Integer(required=True)


class TournamentSummary(Schema):
    """A tournament as lists show it."""

    id = fields.String(required=True)
    name = fields.String(required=True)
    owner = fields.String(required=True, allow_none=True, metadata={"description": "An account's id."})
    state = fields.String(required=True, validate=validate.OneOf(list(TournamentState)))
    ruleset = fields.String(required=True)
    options = fields.Dict(required=True)
    format = fields.String(required=True)
    deals = fields.String(required=True)
    table_size = fields.Integer(required=True)
    tables_per_board = fields.Integer(required=True)
    rounds = fields.Integer(required=True, allow_none=True)
    seed = fields.Integer(required=True)
    limits = fields.Nested(LimitsShown, required=True)
    root = fields.String(
        required=True, metadata={"description": "Commitment to the secret that all packs follow from (docs/deals.md)."}
    )
    created_at = fields.Integer(required=True)
    started_at = fields.Integer(required=True, allow_none=True)
    ended_at = fields.Integer(required=True, allow_none=True)


class TournamentView(TournamentSummary):
    """A tournament."""

    secret = fields.String(required=True, allow_none=True, metadata={"description": "Of the root, once all is over."})
    entries = fields.Integer(required=True, metadata={"description": "How many bots take part."})
    progress = fields.Nested(Progress, required=True)


class TournamentArgs(PageArgs):
    """Which tournaments to list."""

    state = fields.String(validate=validate.OneOf(list(TournamentState)))
    owner = fields.String(
        validate=validate.OneOf(["me"]), metadata={"description": "`me`: those that the token's account made."}
    )


TournamentList = page_of(TournamentSummary, "TournamentList")


@blp.post("/v1/tournaments", who=organiser(Scope.TOURNAMENTS))
@blp.arguments(TournamentNew, examples=_EXAMPLES)
@idempotent
@blp.response(201, TournamentView)
@blp.fails(409, "The account has as many unfinished tournaments as it may have.")
def create_tournament(body: dict[str, Any], *, mint: Mint) -> tuple[dict[str, Any], int, dict[str, str]]:
    """Make a tournament.

    It is open for entries until it is started. The answer holds the commitment to the secret of all its packs.
    """
    made = services().tournaments.create(caller(), order_of(body), mint)
    return services().scoreboard.view(made.id), 201, {"Location": f"/v1/tournaments/{made.id}"}


@blp.get("/v1/tournaments", who=public())
@blp.arguments(TournamentArgs, location="query")
@blp.response(200, TournamentList)
def list_tournaments(query: dict[str, Any]) -> dict[str, Any]:
    """List tournaments, newest first.

    A filtered page may hold fewer than `limit` although more follow.
    """
    state = TournamentState(query["state"]) if "state" in query else None
    found, following = services().tournaments.list_all(
        caller(), limit=query["limit"], cursor=query["cursor"], state=state, mine="owner" in query
    )
    return {"items": [services().scoreboard.summary(each) for each in found], "next_cursor": following}


@blp.get("/v1/tournaments/<tournament:tournament_id>", who=public())
@blp.response(200, TournamentView)
def show_tournament(tournament_id: str) -> dict[str, Any]:
    """Show a tournament and how far it is."""
    return services().scoreboard.view(tournament_id)


@blp.patch("/v1/tournaments/<tournament:tournament_id>", who=organiser(Scope.TOURNAMENTS))
@blp.arguments(TournamentChange)
@blp.response(200, TournamentView)
@blp.fails(409, "It has begun: its rounds are fixed.")
def change_tournament(body: dict[str, Any], tournament_id: str) -> dict[str, Any]:
    """Change a tournament's name or, until its start, its number of rounds."""
    services().tournaments.change(caller(), tournament_id, body)
    return services().scoreboard.view(tournament_id)


@blp.put("/v1/tournaments/<tournament:tournament_id>/state", who=organiser(Scope.TOURNAMENTS))
@blp.arguments(TournamentStateNew)
@blp.response(200, TournamentView)
@blp.fails(409, "It can't get into that state from the one it is in, or has too few entries.")
def set_tournament_state(body: dict[str, Any], tournament_id: str) -> dict[str, Any]:
    """Start, pause, go on with or cancel a tournament.

    Paused, no game begins and those that run are finished. Cancelled, games that run end as cancelled; results stay.
    Doing it again is no error.
    """
    services().tournaments.set_state(caller(), tournament_id, TournamentState(body["state"]))
    return services().scoreboard.view(tournament_id)
