"""The list of tournaments. Each has a page of its own."""

from __future__ import annotations

import time
from typing import Any, Final, TypeAlias, cast

from flask import Blueprint, Response, current_app, request
from flask.blueprints import BlueprintSetupState

from bot_sdk.games.registry import RULESETS
from service.api.context import services
from service.arena.errors import NotFoundError
from service.store.entities import Tournament, TournamentState
from service.web.kept import Kept
from service.web.site import anybody, page

ROWS: Final = 30
FILTERS: Final = ("open", "running", "finished")
"""What may be asked for by itself; those that are paused or were cancelled stand among all."""

LISTS: Final = 16
"""So many of them a process keeps."""
_EXTENSION: Final = "slagveld.tournaments"

pages = Blueprint("tournament_list", __name__)

Found: TypeAlias = tuple[list[dict[str, Any]], str | None]
"""Rows, and the cursor of those that follow."""


@pages.record_once
def _prepare(state: BlueprintSetupState) -> None:
    state.app.extensions[_EXTENSION] = Kept[Found](most=LISTS, clock=time.monotonic)


@pages.get("/tournaments")
def tournaments() -> Response:
    """List tournaments, newest first."""
    wanted = request.args.get("state")
    if wanted not in {None, *FILTERS}:
        raise NotFoundError("there is no such list of tournaments")
    state = None if wanted is None else TournamentState(wanted)
    cursor = request.args.get("cursor")
    kept = cast("Kept[Found]", current_app.extensions[_EXTENSION])
    found, following = kept.lately((state, cursor), lambda: _found(state, cursor))
    return page(
        "tournaments.html",
        here="tournaments",
        tournaments=found,
        state=wanted,
        filters=FILTERS,
        cursor=cursor,
        following=following,
    )


def _found(state: TournamentState | None, cursor: str | None) -> Found:
    """Look them up. How far they are is dear: all their rounds are counted."""
    found, following = services().tournaments.list_all(anybody(), limit=ROWS, cursor=cursor, state=state)
    return [_row(each) for each in found], following


def _row(tournament: Tournament) -> dict[str, Any]:
    is_on = tournament.state in {TournamentState.RUNNING, TournamentState.PAUSED}
    return {
        **services().scoreboard.summary(tournament),
        "game": RULESETS[tournament.ruleset].title,
        "progress": services().scoreboard.progress(tournament) if is_on else None,
    }
