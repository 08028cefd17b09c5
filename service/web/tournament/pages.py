"""The page of one tournament. It shows what the API shows, and is the same for everybody."""

from __future__ import annotations

import re
import time
from typing import Any, Final, cast

from flask import Blueprint, Response, current_app, request
from flask.blueprints import BlueprintSetupState

from service.api.context import services
from service.arena.overviews import Overview
from service.web.kept import Kept
from service.web.scale import SHARES
from service.web.site import page
from service.web.tournament import words
from service.web.tournament.course import course
from service.web.tournament.meetings import matrix, pairs
from service.web.tournament.schedule import Drawn, Pages, bracket, pages_of, rounds
from service.web.tournament.standings import ROWS, table
from service.web.tournament.troubles import troubles
from service.web.writing import count

pages = Blueprint("tournament", __name__)

OVERVIEWS: Final = 16
"""Tournaments of which a process keeps what it has worked out."""
RENDERED: Final = 64
_EXTENSION: Final = "slagveld.tournament"
_NUMBER: Final = re.compile(r"[1-9][0-9]{0,5}", re.ASCII)


class Shelf:
    """What is kept of tournaments, and of pages that were made."""

    def __init__(self) -> None:
        """Keep nothing yet."""
        self.overviews = Kept[Overview](most=OVERVIEWS, clock=time.monotonic)
        self.pages = Kept[Response](most=RENDERED, clock=time.monotonic)


@pages.record_once
def _prepare(state: BlueprintSetupState) -> None:
    state.app.extensions[_EXTENSION] = Shelf()


@pages.get("/tournaments/<tournament:tournament_id>")
def show(tournament_id: str) -> Response:
    """Show a tournament: `from` is a line of the standings, `against` a bot, `rounds` a page of the rounds."""
    shelf = cast("Shelf", current_app.extensions[_EXTENSION])
    at = tournament_id, services().tournaments.get(tournament_id).state  # none of an earlier state is shown any more
    pulse = services().overviews.pulse(tournament_id)
    shown = shelf.overviews.get(at, pulse, lambda: services().overviews.overview(tournament_id))
    first, wanted = _number("from") or 1, _number("rounds")
    first = (min(first, max(1, len(shown.standings))) - 1) // ROWS * ROWS + 1
    against = request.args.get("against", "")
    against = against if any(entry.bot_id == against for entry in shown.entries) else ""
    part = pages_of(shown, wanted)
    name = (at, first, against, part.at if wanted else None)
    made = shelf.pages.get(name, (pulse, shown), lambda: _made(shown, first, against, part))
    return Response(made.get_data(), headers=made.headers.copy())  # each reader gets some of his own


def _number(name: str) -> int | None:
    given = request.args.get(name, "")
    return int(given) if _NUMBER.fullmatch(given) else None


def _made(shown: Overview, first: int, against: str, part: Pages) -> Response:
    """Render it."""
    view = shown.view
    is_knockout = view["format"] == "knockout"
    drawn, boards = _drawn(shown, range(1, shown.drawn + 1) if is_knockout else range(part.first, part.last + 1))
    grid = matrix(shown)
    answer = page(
        "tournament.html",
        here="tournaments",
        shown=shown,
        view=view,
        is_over=view["secret"] is not None,  # a cancelled one's games end, and its boards close, later
        words=words,
        count=count,
        standings=table(shown, first),
        matrix=grid,
        shares=SHARES,
        pairs=pairs(shown, against) if shown.standings and grid is None else None,
        part=part,
        rounds=[each for each in drawn if part.first <= each.number <= part.last],
        boards=[board for board in boards if part.first <= board["round"] <= part.last],
        bracket=bracket(drawn, _winner(shown)) if is_knockout else None,
        troubles=troubles(shown),
        course=course(shown),
    )
    answer.add_etag()
    return answer


def _drawn(shown: Overview, numbers: range) -> tuple[list[Drawn], list[dict[str, Any]]]:
    found, boards = services().rounds.part(shown.view["id"], numbers)
    return rounds(found, boards, shown), boards


def _winner(shown: Overview) -> str | None:
    """Name who has won a knockout: it came further than the last round."""
    return next((row.bot_id for row in shown.standings if (row.reached or 0) > shown.drawn), None)
