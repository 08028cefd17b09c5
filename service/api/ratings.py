"""Ratings: leaderboards, what became of a bot's rating, whom it met. Computed by workers, read here."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, fields, validate

from bot_sdk.games.registry import RULESETS
from service.api.auth import public
from service.api.context import caller, services
from service.api.fields import PageArgs, page_of
from service.api.paging import page
from service.api.resource import Resource
from service.store.entities import BotState

blp = Resource("ratings", description="How strong bots are, by all their rated games.")


class VersionView(Schema):
    """The rating of a bot in one version."""

    version = fields.String(required=True, allow_none=True)
    rating = fields.Float(required=True, metadata={"description": "On Elo's scale."})
    low = fields.Float(required=True, metadata={"description": "Of the 95% interval over boards."})
    high = fields.Float(required=True)
    games = fields.Integer(required=True)
    is_provisional = fields.Boolean(required=True, metadata={"description": "It stands on few games."})
    last_at = fields.Integer(required=True, metadata={"description": "When its last rated game ended."})


class RankedView(VersionView):
    """A row of a leaderboard."""

    rank = fields.Integer(required=True, allow_none=True, metadata={"description": "Null while it is provisional."})
    bot_id = fields.String(required=True)
    name = fields.String(
        required=True, allow_none=True, metadata={"description": "Today's; of a private bot the one it took part by."}
    )
    state = fields.String(
        required=True,
        allow_none=True,
        validate=validate.OneOf(list(BotState)),
        metadata={"description": "Null for a private bot of somebody else's."},
    )


class RatingMethod(Schema):
    """How ratings come about."""

    rating = fields.String(required=True)
    interval = fields.String(required=True)
    rated = fields.String(required=True, metadata={"description": "Which games count."})
    rank = fields.String(required=True)


class LeaderboardArgs(PageArgs):
    """Which rows to list."""

    versions = fields.String(
        load_default="newest",
        validate=validate.OneOf(["newest", "all"]),
        metadata={"description": "A row for each bot, of the version that played last, or one for each version."},
    )


class LineView(Schema):
    """A bot's rating by one fit, in a version that had played since the fit before."""

    at = fields.Integer(required=True)
    version = fields.String(required=True, allow_none=True)
    rating = fields.Float(required=True)
    low = fields.Float(required=True)
    high = fields.Float(required=True)
    games = fields.Integer(required=True)


class RatingsView(Schema):
    """A bot's ratings in one ruleset."""

    ruleset = fields.String(required=True)
    computed_at = fields.Integer(required=True)
    versions = fields.List(fields.Nested(VersionView), required=True, metadata={"description": "Last played first."})
    history = fields.List(fields.Nested(LineView), required=True, metadata={"description": "Oldest first."})


class OpponentArgs(PageArgs):
    """Which opponents to list."""

    ruleset = fields.String(validate=validate.OneOf(list(RULESETS)))


class OpponentView(Schema):
    """What a bot's rated games against another say, versions of both together."""

    ruleset = fields.String(required=True)
    bot_id = fields.String(required=True)
    name = fields.String(required=True, allow_none=True)
    games = fields.Integer(required=True)
    points = fields.Float(required=True, metadata={"description": "1 for each game placed before it, ½ for a tie."})
    mean = fields.Float(required=True, metadata={"description": "Points of a game."})
    superiority = fields.Float(
        required=True,
        allow_none=True,
        metadata={"description": "How likely the bot is the better of the two, over boards; null under two boards."},
    )


class Leaderboard(page_of(RankedView, "LeaderboardPage")):  # type: ignore[misc]  # a class all the same
    """The ratings by the last fit."""

    computed_at = fields.Integer(required=True, allow_none=True, metadata={"description": "Null before the first fit."})
    results = fields.Integer(required=True, metadata={"description": "How many rated games they are made from."})
    method = fields.Nested(RatingMethod, required=True)


RatingsList = page_of(RatingsView, "RatingsList")
OpponentList = page_of(OpponentView, "OpponentList")


@blp.get("/v1/leaderboards/<ruleset:name>", who=public())
@blp.arguments(LeaderboardArgs, location="query")
@blp.response(200, Leaderboard)
def show_leaderboard(query: dict[str, Any], name: str) -> dict[str, Any]:
    """Show the ratings of a ruleset, best first.

    They are computed anew every few seconds while there are new results: `computed_at` says when. Provisional ratings
    come after the others.
    """
    shown = services().leaderboards.leaderboard(caller(), name, all_versions=query["versions"] == "all")
    return {**shown, **page(shown["items"], query)}


@blp.get("/v1/bots/<bot:bot_id>/ratings", who=public())
@blp.arguments(PageArgs, location="query")
@blp.response(200, RatingsList)
def list_ratings(query: dict[str, Any], bot_id: str) -> dict[str, Any]:
    """List a bot's ratings: an item for each ruleset it is rated in, with all its versions and the history."""
    return page(services().leaderboards.ratings(caller(), bot_id), query)


@blp.get("/v1/bots/<bot:bot_id>/opponents", who=public())
@blp.arguments(OpponentArgs, location="query")
@blp.response(200, OpponentList)
def list_opponents(query: dict[str, Any], bot_id: str) -> dict[str, Any]:
    """List whom a bot met in rated games and what came of it, those it met most first."""
    return page(services().leaderboards.opponents(caller(), bot_id, query.get("ruleset")), query)
