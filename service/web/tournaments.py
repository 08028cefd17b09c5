"""The list of tournaments. Each has a page of its own."""

from __future__ import annotations

from typing import Any, Final

from flask import Blueprint, Response, request

from bot_sdk.games.registry import RULESETS
from service.api.context import services
from service.arena.errors import NotFoundError
from service.store.entities import Tournament, TournamentState
from service.web.site import anybody, page

ROWS: Final = 30
FILTERS: Final = ("open", "running", "finished")
"""What may be asked for by itself; those that are paused or were cancelled stand among all."""

pages = Blueprint("tournament_list", __name__)


@pages.get("/tournaments")
def tournaments() -> Response:
    """List tournaments, newest first."""
    wanted = request.args.get("state")
    if wanted not in {None, *FILTERS}:
        raise NotFoundError("there is no such list of tournaments")
    state = None if wanted is None else TournamentState(wanted)
    cursor = request.args.get("cursor")
    found, following = services().tournaments.list_all(anybody(), limit=ROWS, cursor=cursor, state=state)
    return page(
        "tournaments.html",
        here="tournaments",
        tournaments=[_row(each) for each in found],
        state=wanted,
        filters=FILTERS,
        cursor=cursor,
        following=following,
    )


def _row(tournament: Tournament) -> dict[str, Any]:
    is_on = tournament.state in {TournamentState.RUNNING, TournamentState.PAUSED}
    return {
        **services().scoreboard.summary(tournament),
        "game": RULESETS[tournament.ruleset].title,
        "progress": services().scoreboard.progress(tournament) if is_on else None,
    }
