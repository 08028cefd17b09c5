"""A game: its table while it runs, its replay when it is over. Seats are played elsewhere; no token is known here."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from flask import Blueprint, Response

from bot_sdk.games.registry import RULESETS
from service.api.context import services
from service.web.site import page

STATES: Final = {
    "open": "waiting to begin",
    "running": "running",
    "finished": "finished",
    "void": "void",
    "aborted": "aborted",
    "cancelled": "cancelled",
}
ENDS: Final = {
    "void": "Nobody was left who played, so the game counts for nothing.",
    "aborted": "The arena itself failed at it, so the game counts for nothing.",
    "cancelled": "It was stopped from outside before it was over, and counts for nothing.",
}
ENDED_BY: Final = {
    "retirement": "A seat retired and the other won.",
    "forfeit": "A seat had forfeited the game before it began.",
}

pages = Blueprint("game_page", __name__)


@pages.get("/games/<game:game_id>")
def game(game_id: str) -> Response:
    """Show a game as everybody may see it."""
    reading = services().play.follow(game_id, 0)
    view = reading.look.view
    news = [msgspec.json.decode(event) for event in reading.events]
    return page(
        "game.html",
        game=view,
        title=RULESETS[view["ruleset"]].title,
        state=STATES[view["state"]],
        why=ENDS.get(view["state"]) or ENDED_BY.get(view["ended_by"] or ""),
        has_begun=view["observation"] is not None,
        deals=_deals(news)[::-1],
        tournament=_tournament(view["tournament_id"]),
    )


def _deals(news: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """List the deals that have ended, in order, with the tricks bid and won in each: None where nobody bids."""
    deals: list[dict[str, Any]] = []
    bids, won = dict[int, int](), dict[int, int]()
    for event in news:
        if event["event"] == "deal":
            bids, won = {}, {}
        elif event["event"] == "action" and event["action"].startswith("bid:"):
            bids[event["seat"]] = int(event["action"].removeprefix("bid:"))
        elif event["event"] == "trick":
            won[event["winner"]] = won.get(event["winner"], 0) + 1
        elif event["event"] == "deal_ended":
            deals.append({**event, "bids": bids, "won": won})
    return deals


def _tournament(tournament_id: str | None) -> dict[str, str] | None:
    if tournament_id is None:
        return None
    return {"id": tournament_id, "name": services().tournaments.get(tournament_id).name}
