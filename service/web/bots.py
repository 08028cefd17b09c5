"""The list of bots: who can be met here. Each has a page of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from flask import Blueprint, Response, request

from bot_sdk.games.registry import RULESETS
from service.api.context import services
from service.arena.bots import BotFilter
from service.store.entities import Bot
from service.web.site import anybody, page

ROWS: Final = 50

pages = Blueprint("bot_list", __name__)

Ratings = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""Rows of leaderboards, by ruleset and bot."""


@pages.get("/bots")
def bots() -> Response:
    """List the arena's own bots and everybody's, newest first."""
    cursor = request.args.get("cursor")
    found, following = services().bots.list_all(anybody(), BotFilter(), limit=ROWS, cursor=cursor)
    ratings = {name: _rated(name) for name in RULESETS}
    return page(
        "bots.html",
        here="bots",
        rulesets=RULESETS,
        houses=[_row(bot, ratings) for bot in services().bots.houses()],
        bots=[_row(bot, ratings) for bot in found],
        cursor=cursor,
        following=following,
    )


def _rated(ruleset: str) -> dict[str, dict[str, Any]]:
    board = services().leaderboards.leaderboard(anybody(), ruleset, all_versions=False)
    return {row["bot_id"]: row for row in board["items"]}


def _row(bot: Bot, ratings: Ratings) -> dict[str, Any]:
    """Show what everybody may know of a bot; where it is and why it doesn't play are its owner's business."""
    return {
        "id": bot.id,
        "name": bot.name,
        "state": bot.state.value,
        "rulesets": bot.rulesets,
        "created_at": bot.created_at,
        "ratings": {name: rows[bot.id] for name, rows in ratings.items() if bot.id in rows},
    }
