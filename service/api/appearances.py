"""How bots did lately, for everybody: their last games, and what those say of their answers."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, fields, validate

from bot_sdk.games.registry import RULESETS
from service.api.auth import public
from service.api.context import caller, services
from service.api.fields import PageArgs, page_of
from service.api.games import GameSummary
from service.api.paging import page
from service.api.resource import Resource

blp = Resource("statistics", description="How bots did in their last games.")

_OUTCOMES = "How many decisions came about in which way (docs/contract.md); what never happened isn't named."


class TimeClass(Schema):
    """Decisions that took about equally long."""

    from_ms = fields.Float(required=True, metadata={"description": "The class begins there."})
    to_ms = fields.Float(
        required=True, allow_none=True, metadata={"description": "The next begins there; null if it is the last."}
    )
    decisions = fields.Integer(required=True)


class StatisticsView(Schema):
    """A bot's last games of one ruleset, summed up."""

    ruleset = fields.String(required=True, validate=validate.OneOf(list(RULESETS)))
    games = fields.Integer(required=True)
    since = fields.Integer(required=True, metadata={"description": "When the oldest of these games ended."})
    until = fields.Integer(required=True, metadata={"description": "When the newest of these games ended."})
    decisions = fields.Integer(required=True)
    outcomes = fields.Dict(
        keys=fields.String(), values=fields.Integer(), required=True, metadata={"description": _OUTCOMES}
    )
    retired = fields.Integer(required=True, metadata={"description": "From how many of these games it retired."})
    times = fields.List(
        fields.Nested(TimeClass),
        required=True,
        metadata={
            "description": "How long its decisions took, from the quickest class to the slowest. Those that it wasn't "
            "asked for, or couldn't be reached for, aren't among them; one that was late took the time it was waited "
            "for."
        },
    )


class AppearanceView(GameSummary):
    """A game that has ended, and how the bot did in it."""

    own_seats = fields.List(fields.Integer(), required=True, metadata={"description": "Where the bot sat."})
    totals = fields.List(fields.Integer(), required=True, metadata={"description": "By seat."})
    places = fields.List(
        fields.Integer(),
        required=True,
        allow_none=True,
        metadata={"description": "By seat; null unless it is finished."},
    )
    retired = fields.Boolean(required=True, metadata={"description": "Whether the bot retired, at any of its seats."})
    outcomes = fields.Dict(
        keys=fields.String(), values=fields.Integer(), required=True, metadata={"description": _OUTCOMES}
    )


StatisticsList = page_of(StatisticsView, "StatisticsList")
AppearanceList = page_of(AppearanceView, "AppearanceList")


@blp.get("/v1/bots/<bot:bot_id>/statistics", who=public())
@blp.arguments(PageArgs, location="query")
@blp.response(200, StatisticsList)
def list_bot_statistics(query: dict[str, Any], bot_id: str) -> dict[str, Any]:
    """Sum up a bot's last games: an item for each ruleset that it played in them."""
    return page(services().appearances.statistics(caller(), bot_id), query)


@blp.get("/v1/bots/<bot:bot_id>/games", who=public())
@blp.arguments(PageArgs, location="query")
@blp.response(200, AppearanceList)
def list_bot_games(query: dict[str, Any], bot_id: str) -> dict[str, Any]:
    """List a bot's last games, newest first: of the 200 that ended last those that are still kept.

    A game stands there once everybody may read it. A page may hold fewer than `limit` although more follow.
    """
    items, following = services().appearances.games(caller(), bot_id, limit=query["limit"], cursor=query["cursor"])
    return {"items": items, "next_cursor": following}
