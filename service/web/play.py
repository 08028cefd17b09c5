"""Playing in the browser: a form that orders a game, and the page of a seat. What is private to a seat, modules fetch.

Both pages are the same for everybody; whose seat it is, only the browser knows that keeps its token.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from flask import Blueprint, Response

from bot_sdk.games.registry import RULESETS, Ruleset
from service.api.context import services
from service.api.fields import MAX_PAGE
from service.arena.bots import BotFilter
from service.store.entities import Bot, BotState
from service.web.site import anybody, page

_MOST_PAGES: Final = 2
"""How many pages of registered bots are looked through for some to choose from: a form has room for so many."""
_CHARACTERS: Final = {
    "house:random": "any legal action",
    "house:greedy": "rules of thumb",
    "house:counting": "remembers every card",
    "house:search": "thinks ahead, the strongest",
}

pages = Blueprint("play", __name__)


@dataclass(frozen=True, slots=True)
class Offer:
    """A game that can be ordered: the options of its smallest table, and who may be played against."""

    ruleset: Ruleset
    options: dict[str, dict[str, Any]]
    houses: list[tuple[Bot, str]]
    bots: list[Bot]


@pages.get("/play")
def form() -> Response:
    """Show what can be ordered."""
    offers = [_offer(ruleset) for ruleset in RULESETS.values()]
    return page("play.html", here="play", offers=offers, needs_account=not services().settings.anonymous_games)


@pages.get("/play/<game:game_id>")
def seat(game_id: str) -> Response:
    """Show the page of a game's seats, which is also the invitation to an open one."""
    game = services().play.look(game_id, lambda _: False).view
    return page("seat.html", here="play", game=game, title=RULESETS[game["ruleset"]].title)


def _offer(ruleset: Ruleset) -> Offer:
    houses = [bot for bot in services().bots.houses() if ruleset.name in bot.rulesets]
    return Offer(
        ruleset,
        ruleset.options_schema()["properties"],
        [(bot, _CHARACTERS.get(bot.id, "")) for bot in houses],
        _public_bots(ruleset),
    )


def _public_bots(ruleset: Ruleset) -> list[Bot]:
    """List bots that anybody may seat now, the newest of those registered last."""
    wanted = BotFilter(ruleset=ruleset.name, state=BotState.ACTIVE)
    found: list[Bot] = []
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        bots, cursor = services().bots.list_all(anybody(), wanted, limit=MAX_PAGE, cursor=cursor)
        found += (bot for bot in bots if bot.availability == "public")
        if cursor is None:
            break
    return found
