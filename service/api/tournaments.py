"""Tournaments: made, entered, started, followed, and their results read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from flask import Response, current_app
from marshmallow import Schema, fields, validate

from bot_sdk.games.registry import RULESETS
from service.api import stream
from service.api.auth import organiser, public
from service.api.context import caller, services
from service.api.fields import Name, PageArgs, Whole, page_of
from service.api.games import GameList, LimitsNew, LimitsShown, order_of
from service.api.idempotency import idempotent
from service.api.paging import page
from service.api.resource import Resource
from service.arena.caller import Caller, Scope
from service.arena.minting import Mint
from service.store.entities import Entry, GameState, Tournament, TournamentState

blp = Resource("tournaments", description="Many games between the same bots, and what they say about them.")

MAX_ROUNDS = 1_000
MAX_SEED = 2**53 - 1
PROGRESS_PAUSE_S = 0.25
"""Between two messages of a stream: progress may change a hundred times a second."""
JSON_LINES = "application/jsonl"
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


class MeanView(Schema):
    """A mean and its 95% interval over boards."""

    mean = fields.Float(required=True, allow_none=True)
    low = fields.Float(required=True, allow_none=True)
    high = fields.Float(required=True, allow_none=True)


class StandingView(Schema):
    """One bot's row; ties share a place."""

    place = fields.Integer(required=True)
    bot_id = fields.String(required=True)
    name = fields.String(required=True)
    games = fields.Integer(required=True, metadata={"description": "That were played, void ones included."})
    points = fields.Float(required=True)
    mean = fields.Nested(MeanView, required=True)
    wins = fields.Integer(required=True, metadata={"description": "At the table."})
    forfeits = fields.Integer(required=True)
    forfeit_wins = fields.Integer(required=True)
    voids = fields.Integer(required=True)
    aborted = fields.Integer(required=True)
    outcomes = fields.Dict(
        keys=fields.String(), values=fields.Integer(), required=True, metadata={"description": "Of its decisions."}
    )
    tiebreaks = fields.Dict(keys=fields.String(), values=fields.Float(allow_none=True), required=True)


class Method(Schema):
    """How standings are computed."""

    score = fields.String(required=True)
    mean = fields.String(required=True)
    tiebreaks = fields.List(fields.String(), required=True, metadata={"description": "In the order of their use."})
    interval = fields.String(required=True)


class Standings(Schema):
    """The standings, best first."""

    items = fields.List(fields.Nested(StandingView), required=True)
    next_cursor = fields.String(required=True, allow_none=True, metadata={"description": "Always null: they fit."})
    results = fields.Integer(required=True, metadata={"description": "How many games they are made from."})
    is_final = fields.Boolean(required=True)
    method = fields.Nested(Method, required=True)


class TableView(Schema):
    """The bots seated together, and what came of it; nulls before the result."""

    table = fields.Integer(required=True)
    bots = fields.List(fields.String(), required=True, metadata={"description": "By seat."})
    board = fields.String(required=True)
    commitment = fields.String(required=True)
    secret = fields.String(required=True, allow_none=True)
    game_id = fields.String(required=True, allow_none=True)
    state = fields.String(required=True, allow_none=True)
    totals = fields.List(fields.Integer(), required=True, allow_none=True)
    places = fields.List(fields.Integer(), required=True, allow_none=True)


class RoundView(Schema):
    """One round."""

    round = fields.Integer(required=True)
    tables = fields.List(fields.Nested(TableView), required=True)
    byes = fields.List(fields.String(), required=True)


class TournamentGameArgs(PageArgs):
    """Which games to list."""

    state = fields.String(validate=validate.OneOf(list(GameState)))


class ExportArgs(Schema):
    """What to export."""

    format = fields.String(
        load_default="records",
        validate=validate.OneOf(["records"], error="expected records, the one format there is, got {input!r}"),
    )


TournamentList = page_of(TournamentSummary, "TournamentList")
RoundList = page_of(RoundView, "RoundList")
EntryList = page_of(EntryView, "EntryList")


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


@blp.get("/v1/tournaments/<tournament:tournament_id>/standings", who=public())
@blp.response(200, Standings)
def show_standings(tournament_id: str) -> dict[str, Any]:
    """Show the standings by the results so far, and how they are computed."""
    return services().scoreboard.standings(tournament_id)


@blp.get("/v1/tournaments/<tournament:tournament_id>/rounds", who=public())
@blp.arguments(PageArgs, location="query")
@blp.response(200, RoundList)
def list_rounds(query: dict[str, Any], tournament_id: str) -> dict[str, Any]:
    """List the rounds drawn so far: who meets whom on which board, and the results."""
    return page(services().scoreboard.rounds(tournament_id), query)


@blp.get("/v1/tournaments/<tournament:tournament_id>/games", who=public())
@blp.arguments(TournamentGameArgs, location="query")
@blp.response(200, GameList)
def list_tournament_games(query: dict[str, Any], tournament_id: str) -> dict[str, Any]:
    """List the tournament's games, newest first.

    A filtered page may hold fewer than `limit` although more follow.
    """
    state = GameState(query["state"]) if "state" in query else None
    games, following = services().scoreboard.games(
        tournament_id, limit=query["limit"], cursor=query["cursor"], state=state
    )
    return {"items": games, "next_cursor": following}


@blp.get("/v1/tournaments/<tournament:tournament_id>/stream", who=public())
@blp.response(200, **stream.DOCUMENTED)
@blp.may_answer(204, "The last message was seen already; nothing will follow.")
@blp.takes(stream.LAST_EVENT_ID)
def stream_tournament(tournament_id: str) -> Response:
    """Stream how far a tournament is.

    Server-sent events with `state` and the counts of `progress`, the latest only. The stream ends with the tournament.
    """
    scoreboard = services().scoreboard

    def read(seen: int, seconds: float) -> tuple[list[stream.Message], bool]:
        count, progress, more = scoreboard.follow(tournament_id, seen, seconds)
        return [(count, progress)] if count != seen else [], more

    return stream.answer(read, pause_s=PROGRESS_PAUSE_S)


@blp.get("/v1/tournaments/<tournament:tournament_id>/export", who=public())
@blp.arguments(ExportArgs, location="query")
@blp.response(200, schema={"type": "string"}, content_type=JSON_LINES, description="A record a line (docs/record.md).")
def export_tournament(query: dict[str, Any], tournament_id: str) -> Response:  # noqa: ARG001 (there is one format)
    """Export the records of all games that have a result, a JSON object a line, in order of round and table."""
    lines = _lines(services().scoreboard.records(tournament_id))
    disposition = {"Content-Disposition": f'attachment; filename="{tournament_id}.jsonl"'}
    return current_app.response_class(lines, content_type=JSON_LINES, headers=disposition)


def _lines(records: Iterator[bytes]) -> Iterator[bytes]:
    for written in records:
        yield written.rstrip(b"\n") + b"\n"


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
