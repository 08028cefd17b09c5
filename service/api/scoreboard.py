"""What becomes of a tournament: standings, rounds, games, progress, records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from flask import Response, current_app
from marshmallow import Schema, fields, validate

from bot_sdk.results.values import GameState
from service.api import stream
from service.api.auth import public
from service.api.context import services
from service.api.fan import Found
from service.api.fields import PageArgs, page_of
from service.api.games import GameList
from service.api.paging import page
from service.api.resource import Resource

blp = Resource("scoreboard", description="What becomes of a tournament: standings, rounds, games, records.")

PROGRESS_PAUSE_S = 0.25
"""Between two messages of a stream: progress may change a hundred times a second."""
JSON_LINES = "application/jsonl"


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
    byes = fields.Integer(required=True, metadata={"description": "Rounds it sat out."})
    forfeits = fields.Integer(required=True)
    forfeit_wins = fields.Integer(required=True)
    retirements = fields.Integer(
        required=True, metadata={"description": "Games that it was retired from: for its faults, or disabled."}
    )
    voids = fields.Integer(required=True)
    aborted = fields.Integer(required=True)
    missing = fields.Integer(
        required=True,
        metadata={"description": "Games of its rounds that weren't played, or not yet; aborted ones too."},
    )
    is_withdrawn = fields.Boolean(required=True)
    reached = fields.Integer(
        required=True,
        allow_none=True,
        metadata={"description": "Its last round of a knockout, one more for the winner; null in other formats."},
    )
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
    is_final = fields.Boolean(required=True, metadata={"description": "Whether no further result can come."})
    method = fields.Nested(Method, required=True)


class CellView(Schema):
    """What a bot made of its games against another."""

    games = fields.Integer(required=True, metadata={"description": "That were decided between the two."})
    points = fields.Float(required=True, metadata={"description": "1 for each won, 1/2 for each tied, forfeits too."})
    mean = fields.Nested(MeanView, required=True)
    superiority = fields.Float(
        required=True,
        allow_none=True,
        metadata={"description": "How likely it is that it is the better bot; null under two boards."},
    )
    forfeits = fields.Integer(required=True)
    forfeit_wins = fields.Integer(required=True)
    voids = fields.Integer(required=True)


class CrosstableRow(Schema):
    """One bot against all."""

    place = fields.Integer(required=True)
    bot_id = fields.String(required=True)
    name = fields.String(required=True)
    cells = fields.List(
        fields.Nested(CellView, allow_none=True),
        required=True,
        metadata={"description": "In the order of the rows; null for itself and for whom it hasn't met."},
    )


class Crosstable(Schema):
    """Each against each, in the order of the standings."""

    items = fields.List(fields.Nested(CrosstableRow), required=True)
    next_cursor = fields.String(required=True, allow_none=True, metadata={"description": "Always null: they fit."})
    results = fields.Integer(required=True, metadata={"description": "How many games it is made from."})


class PlaceView(Schema):
    """A game of the schedule; nulls before it is made, and before its result may be read."""

    leg = fields.Integer(required=True)
    bots = fields.List(fields.String(), required=True, metadata={"description": "By seat."})
    board = fields.String(required=True)
    game_id = fields.String(required=True, allow_none=True)
    state = fields.String(required=True, allow_none=True, metadata={"description": "How it ended."})
    totals = fields.List(fields.Integer(), required=True, allow_none=True)
    places = fields.List(fields.Integer(), required=True, allow_none=True)
    ended_by = fields.String(
        required=True, allow_none=True, metadata={"description": "`play`, `retirement` or `forfeit`."}
    )


class TableView(Schema):
    """The bots seated together, and their games: one, or with `rotate` deals one for each leg."""

    table = fields.Integer(required=True)
    bots = fields.List(fields.String(), required=True)
    games = fields.List(fields.Nested(PlaceView), required=True)


class RoundView(Schema):
    """One round."""

    round = fields.Integer(required=True)
    tables = fields.List(fields.Nested(TableView), required=True)
    byes = fields.List(fields.String(), required=True)


class BoardView(Schema):
    """A board: its secret is shown once it is closed, which is when its last game has ended."""

    board = fields.String(required=True)
    round = fields.Integer(required=True)
    label = fields.String(required=True)
    commitment = fields.String(required=True)
    is_closed = fields.Boolean(required=True)
    secret = fields.String(required=True, allow_none=True)
    games = fields.List(fields.String(), required=True, metadata={"description": "Those made on it so far."})


class TournamentGameArgs(PageArgs):
    """Which games to list."""

    state = fields.String(validate=validate.OneOf(list(GameState)))


class ExportArgs(Schema):
    """What to export."""

    format = fields.String(
        load_default="records",
        validate=validate.OneOf(["csv", "jsonl", "records"], error="expected one of {choices}, got {input!r}"),
        metadata={
            "description": "`records`: a record a line (docs/record.md). `csv`: the results, a row for each seat of "
            "each game. `jsonl`: the tournament, its entries, rounds, results and standings, a JSON object a line, "
            "from which `slagbot recompute` computes the standings again."
        },
    )


RoundList = page_of(RoundView, "RoundList")
BoardList = page_of(BoardView, "BoardList")


@blp.get("/v1/tournaments/<tournament:tournament_id>/standings", who=public())
@blp.response(200, Standings)
def show_standings(tournament_id: str) -> dict[str, Any]:
    """Show the standings by the results so far, and how they are computed."""
    return services().scoreboard.standings(tournament_id)


@blp.get("/v1/tournaments/<tournament:tournament_id>/crosstable", who=public())
@blp.response(200, Crosstable)
def show_crosstable(tournament_id: str) -> dict[str, Any]:
    """Show what each entry made of its games against each other one, by the results so far."""
    return services().scoreboard.crosstable(tournament_id)


@blp.get("/v1/tournaments/<tournament:tournament_id>/rounds", who=public())
@blp.arguments(PageArgs, location="query")
@blp.response(200, RoundList)
def list_rounds(query: dict[str, Any], tournament_id: str) -> dict[str, Any]:
    """List the rounds drawn so far: who meets whom on which board, and the results."""
    return page(services().rounds.rounds(tournament_id), query)


@blp.get("/v1/tournaments/<tournament:tournament_id>/boards", who=public())
@blp.arguments(PageArgs, location="query")
@blp.response(200, BoardList)
def list_boards(query: dict[str, Any], tournament_id: str) -> dict[str, Any]:
    """List the boards of the rounds drawn so far, with their commitments and, once closed, their secrets."""
    return page(services().rounds.boards(tournament_id), query)


@blp.get("/v1/tournaments/<tournament:tournament_id>/games", who=public())
@blp.arguments(TournamentGameArgs, location="query")
@blp.response(200, GameList)
def list_tournament_games(query: dict[str, Any], tournament_id: str) -> dict[str, Any]:
    """List the tournament's games, newest first.

    A filtered page may hold fewer than `limit` although more follow.
    """
    state = GameState(query["state"]) if "state" in query else None
    games, following = services().rounds.games(tournament_id, limit=query["limit"], cursor=query["cursor"], state=state)
    return {"items": games, "next_cursor": following}


@blp.get("/v1/tournaments/<tournament:tournament_id>/stream", who=public())
@blp.response(200, **stream.DOCUMENTED)
@blp.may_answer(204, "The last message was seen already; nothing will follow.")
@blp.takes(stream.LAST_EVENT_ID)
def stream_tournament(tournament_id: str) -> Response:
    """Stream how far a tournament is.

    Server-sent events with `state`, `reason` and all of `progress`, the latest only. The stream ends with the
    tournament.
    """
    scoreboard = services().scoreboard

    def follow(seen: int, seconds: float) -> Found:
        count, progress, more = scoreboard.follow(tournament_id, seen, seconds, is_new=not seconds)
        message = (count, msgspec.json.encode(progress))
        return Found(count, lambda seen: [message] if count != seen else [], more)

    return stream.answer(tournament_id, follow, pause_s=PROGRESS_PAUSE_S)


@blp.get("/v1/tournaments/<tournament:tournament_id>/export", who=public())
@blp.arguments(ExportArgs, location="query")
@blp.response(200, schema={"type": "string"}, content_type=JSON_LINES, description="Lines, as `format` says.")
@blp.may_answer(200, "Lines, as `format` says.", {"type": "string"}, content_type="text/csv")
def export_tournament(query: dict[str, Any], tournament_id: str) -> Response:
    """Export what counts so far, in order of round, table and leg."""
    exports = services().exports
    if query["format"] == "csv":
        return _file(exports.sheet(tournament_id), f"{tournament_id}.csv", "text/csv; charset=utf-8; header=present")
    if query["format"] == "jsonl":
        return _file(exports.lines(tournament_id), f"{tournament_id}.jsonl", JSON_LINES)
    return _file(exports.records(tournament_id), f"{tournament_id}-records.jsonl", JSON_LINES)


def _file(lines: Iterator[bytes], name: str, content_type: str) -> Response:
    disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
    return current_app.response_class(lines, content_type=content_type, headers=disposition)
