"""The lobby: what is on, who is strong, and how to join."""

from __future__ import annotations

from typing import Any, Final

from flask import Blueprint, Response

from bot_sdk.games.registry import RULESETS
from bot_sdk.results.values import GameState
from service.api.context import services
from service.store.entities import TournamentState
from service.web.site import anybody, page

GAMES: Final = 6
TOURNAMENTS: Final = 5
LEADERS: Final = 5
RECENT: Final = 50
"""So many of the newest games are looked at for those that have just ended."""

pages = Blueprint("lobby", __name__)


@pages.get("/")
def lobby() -> Response:
    """Show what is on."""
    running = _games(GameState.RUNNING)
    return page(
        "lobby.html",
        here="lobby",
        rulesets=RULESETS,
        featured=next((game for game in running if game["readable"]), None),
        running=running,
        waiting=[game for game in _games(GameState.OPEN) if _has_open_seat(game)],
        ended=_ended(),
        tournaments=_tournaments(TournamentState.RUNNING),
        entering=_tournaments(TournamentState.OPEN),
        leaders={name: _leaders(name) for name in RULESETS},
        arena=services().settings.public_url,
    )


def _games(state: GameState) -> list[dict[str, Any]]:
    found, _ = services().games.list_all(anybody(), limit=GAMES, cursor=None, state=state)
    return found


def _has_open_seat(game: dict[str, Any]) -> bool:
    return any(seat["kind"] == "open" for seat in game["seats"])


def _ended() -> list[dict[str, Any]]:
    """Give those of the newest games that can be replayed by now."""
    newest, _ = services().games.list_all(anybody(), limit=RECENT, cursor=None, state=None)
    over = {GameState.FINISHED.value, GameState.VOID.value}
    return [game for game in newest if game["readable"] and game["state"] in over][:GAMES]


def _tournaments(state: TournamentState) -> list[dict[str, Any]]:
    found, _ = services().tournaments.list_all(anybody(), limit=TOURNAMENTS, cursor=None, state=state)
    return [{**services().scoreboard.summary(each), "progress": services().scoreboard.progress(each)} for each in found]


def _leaders(ruleset: str) -> list[dict[str, Any]]:
    board = services().leaderboards.leaderboard(anybody(), ruleset, all_versions=False)
    ranked: list[dict[str, Any]] = [row for row in board["items"] if row["rank"] is not None]
    return ranked[:LEADERS]
