"""The games that can be played here."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, fields

from bot_sdk.games.registry import RULESETS, Ruleset, RulesetError
from service.api.auth import public
from service.api.fields import Digits, PageArgs, page_of
from service.api.paging import page
from service.api.resource import Resource
from service.arena.errors import NotFoundError, invalid

blp = Resource("rulesets", description="The games that can be played here, and the options of their rules.")


class SeatRange(Schema):
    """How many may play."""

    min = fields.Integer(required=True)
    max = fields.Integer(required=True)


class RulesetView(Schema):
    """A game's rules."""

    name = fields.String(required=True)
    title = fields.String(required=True)
    seats = fields.Nested(SeatRange, required=True)
    phases = fields.List(fields.String(), required=True)
    options = fields.Dict(
        required=True,
        metadata={"description": "JSON Schema of the options, for the smallest table unless `seats` says another."},
    )


class RulesetArgs(Schema):
    """Which table is meant."""

    seats = Digits(1, 8, metadata={"description": "The number of seats; limits and defaults may hang on it."})


RulesetList = page_of(RulesetView, "RulesetList")


@blp.get("/v1/rulesets", who=public())
@blp.arguments(PageArgs, location="query")
@blp.response(200, RulesetList)
def list_rulesets(query: dict[str, Any]) -> dict[str, Any]:
    """List the games that can be played here."""
    return page([_view(ruleset, ruleset.min_seats) for ruleset in RULESETS.values()], query)


@blp.get("/v1/rulesets/<ruleset:name>", who=public())
@blp.arguments(RulesetArgs, location="query")
@blp.response(200, RulesetView)
def show_ruleset(query: dict[str, Any], name: str) -> dict[str, Any]:
    """Show one game with the options of its rules."""
    if name not in RULESETS:
        raise NotFoundError("there is no such ruleset")
    ruleset = RULESETS[name]
    seats = query.get("seats", ruleset.min_seats)
    try:
        ruleset.check_seats(seats)
    except RulesetError as error:
        raise invalid("seats", str(error)) from error
    return _view(ruleset, seats)


def _view(ruleset: Ruleset, seats: int) -> dict[str, Any]:
    return {
        "name": ruleset.name,
        "title": ruleset.title,
        "seats": {"min": ruleset.min_seats, "max": ruleset.max_seats},
        "phases": list(ruleset.phases),
        "options": ruleset.options_schema(seats),
    }
