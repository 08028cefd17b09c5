"""The lobby: what is on, who is strong, and how to join."""

from __future__ import annotations

import time
from typing import Any, Final, cast

from flask import Blueprint, Response, current_app
from flask.blueprints import BlueprintSetupState

from bot_sdk.games.registry import RULESETS
from bot_sdk.results.values import GameState
from service.api.context import services
from service.store.entities import TournamentState
from service.web.kept import Kept
from service.web.site import anybody, page

GAMES: Final = 6
TOURNAMENTS: Final = 5
LEADERS: Final = 5
RECENT: Final = 50
"""So many of the newest games are looked at for those that may be watched or joined, or have just ended."""

_EXTENSION: Final = "slagveld.lobby"

pages = Blueprint("lobby", __name__)


@pages.record_once
def _prepare(state: BlueprintSetupState) -> None:
    state.app.extensions[_EXTENSION] = Kept[dict[str, Any]](most=1, clock=time.monotonic)


@pages.get("/")
def lobby() -> Response:
    """Show what is on."""
    kept = cast("Kept[dict[str, Any]]", current_app.extensions[_EXTENSION])
    return page("lobby.html", here="lobby", rulesets=RULESETS, **kept.lately("lobby", _shown))


def _shown() -> dict[str, Any]:
    """Look what is on. Thousands of games are looked through for the few that are."""
    running = _games(GameState.RUNNING, RECENT)
    return {
        "featured": next((game for game in running if game["readable"]), None),
        "running": running[:GAMES],
        "waiting": [game for game in _games(GameState.OPEN, RECENT) if _has_open_seat(game)][:GAMES],
        "ended": _ended(),
        "tournaments": _tournaments(TournamentState.RUNNING),
        "entering": _tournaments(TournamentState.OPEN),
        "leaders": {name: _leaders(name) for name in RULESETS},
        "arena": services().settings.public_url,
    }


def _games(state: GameState, most: int) -> list[dict[str, Any]]:
    found, _ = services().games.list_all(anybody(), limit=most, cursor=None, state=state)
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
