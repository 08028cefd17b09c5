"""Seats of a game: sitting down, seeing what one may know, acting, leaving."""

from __future__ import annotations

from typing import Any

import msgspec
from flask import Response
from marshmallow import Schema, fields, validate

from service.api import conditional, waiting
from service.api.auth import public, seat
from service.api.conditional import ETAG, IF_NONE_MATCH, PREFER
from service.api.context import caller, glance, services
from service.api.fields import Name
from service.api.games import Standing
from service.api.idempotency import idempotent
from service.api.resource import Resource
from service.arena.minting import Mint
from service.arena.play import Acted

blp = Resource("seats", description="Playing as a person: each seat has a token of its own.")

WAIT_FOR_DECISION_S = 20


class Join(Schema):
    """Who sits down."""

    name = Name(required=True)


class Joined(Schema):
    """A seat that is yours."""

    seat = fields.Integer(required=True)
    token = fields.String(required=True, metadata={"description": "Shown this once: whoever has it plays the seat."})


class EntropyNew(Schema):
    """A text that goes into the shuffle."""

    entropy = fields.String(required=True, metadata={"description": "At most 256 bytes as UTF-8."})


class EntropyView(EntropyNew):
    """What a seat adds to the shuffle."""

    seat = fields.Integer(required=True)


class LastDecision(Schema):
    """How the seat's latest decision went."""

    action = fields.String(required=True)
    outcome = fields.String(required=True)
    ms = fields.Float(required=True)


class SeatView(Standing):
    """A game from one of its seats."""

    game_id = fields.String(required=True)
    seat = fields.Integer(required=True)
    state = fields.String(required=True)
    decision_id = fields.String(
        required=True, allow_none=True, metadata={"description": "Of the decision this seat owes now, else null."}
    )
    legal_actions = fields.List(fields.String(), required=True)
    deadline = fields.Integer(
        required=True,
        allow_none=True,
        metadata={"description": "Unix milliseconds; the first legal action is played then."},
    )
    retired = fields.String(required=True, allow_none=True)
    last = fields.Nested(LastDecision, required=True, allow_none=True)


class SeatArgs(Schema):
    """What to wait for."""

    wait_for = fields.String(
        validate=validate.OneOf(["decision"]),
        metadata={"description": "Answer once the seat owes a decision, has retired, or the game has ended."},
    )


class Action(Schema):
    """An action for a decision."""

    decision_id = fields.String(required=True, validate=validate.Length(1, 120))
    action = fields.String(required=True, validate=validate.Length(1, 64), metadata={"example": "play:QH"})


class ActionTaken(Schema):
    """An action that stands, and how things are after it."""

    decision_id = fields.String(required=True)
    action = fields.String(required=True)
    version = fields.Integer(required=True)
    view = fields.Nested(SeatView, required=True)


_ACTION_EXAMPLE = {"decision_id": "gam_aaaaaaaaaaaaaaaaaaaaaaaaaa.0.17", "action": "play:QH"}


@blp.put("/v1/games/<game:game_id>/seats/<seat:number>", who=public())
@blp.arguments(Join, example={"name": "bob"})
@idempotent
@blp.response(200, Joined)
@blp.fails(409, "The seat is taken, or the game has begun.")
def join_seat(body: dict[str, Any], game_id: str, number: str, *, mint: Mint) -> dict[str, Any]:
    """Sit down on an open seat.

    Anyone may; the answer holds the seat's token, once. The game begins when no seat is open, unless its start is
    manual.
    """
    return {"seat": int(number), "token": services().games.join(caller(), game_id, int(number), body["name"], mint)}


@blp.delete("/v1/games/<game:game_id>/seats/<seat:number>", who=seat())
@blp.response(204)
@blp.fails(409, "The game has ended.")
def leave_seat(game_id: str, number: str) -> None:
    """Leave a seat.

    Before the start it is open again; after it the seat retires. Leaving twice is no error.
    """
    services().play.leave(caller(), game_id, int(number))


@blp.put("/v1/games/<game:game_id>/seats/<seat:number>/entropy", who=seat())
@blp.arguments(EntropyNew)
@blp.response(200, EntropyView)
@blp.fails(409, "The game doesn't wait for a manual start.")
def set_entropy(body: dict[str, Any], game_id: str, number: str) -> dict[str, Any]:
    """Add to the shuffle.

    Later text replaces earlier until the manual start; the record shows what was used.
    """
    services().games.set_entropy(caller(), game_id, int(number), body["entropy"])
    return {"seat": int(number), "entropy": body["entropy"]}


@blp.get("/v1/games/<game:game_id>/seats/<seat:number>", who=seat())
@blp.arguments(SeatArgs, location="query")
@blp.response(200, SeatView, headers=ETAG)
@blp.may_answer(304, "Nothing new.")
@blp.takes(IF_NONE_MATCH, PREFER)
def show_seat(query: dict[str, Any], game_id: str, number: str) -> Any:
    """Show a game from a seat: what it may know, and what it owes.

    With `wait_for=decision` the answer waits (20 seconds, or what Prefer says) until the seat owes a decision,
    retires or the game ends. With If-None-Match it waits, if Prefer says so, until there is something new.
    """
    play, for_decision = services().play, "wait_for" in query
    seconds = conditional.patience_s(WAIT_FOR_DECISION_S if for_decision else 0)
    with waiting.place(seconds):
        if for_decision:
            look = play.wait_for_decision(caller(), game_id, int(number), seconds, glance=glance())
        else:
            look = play.look_from(caller(), game_id, int(number), conditional.is_known, seconds, glance=glance())
    return conditional.shown(look, private=True)


@blp.post("/v1/games/<game:game_id>/seats/<seat:number>/actions", who=seat())
@blp.arguments(Action, example=_ACTION_EXAMPLE)
@blp.response(201, ActionTaken)
@blp.may_answer(200, "The same action was taken before.", ActionTaken)
@blp.fails(409, "The decision was taken otherwise, or isn't owed.")
@blp.fails(422, "The action isn't legal now; the answer lists `legal_actions`.")
def take_action(body: dict[str, Any], game_id: str, number: str) -> Response:
    """Take an action for the decision that the seat owes.

    Sending the same again is safe, after the end too; another action for a decision that was taken is refused.
    """
    acted = services().play.act(caller(), game_id, int(number), body["decision_id"], body["action"], glance=glance())
    return conditional.ready(_taken(acted), 201 if acted.is_new else 200)


def _taken(acted: Acted) -> bytes:
    """Write an `ActionTaken` around the view, which is written already."""
    head = msgspec.json.encode({"decision_id": acted.decision_id, "action": acted.action, "version": acted.version})
    return b'%b,"view":%b}' % (head[:-1], acted.look.body)
