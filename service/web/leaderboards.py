"""The leaderboard of a ruleset: who is how strong, how sure that is, and how it comes about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from flask import Blueprint, Response, request

from bot_sdk.games.registry import RULESETS
from service.api.context import services
from service.web.scale import Scale
from service.web.site import anybody, page

ROWS: Final = 100
"""So many rows on a page."""

pages = Blueprint("leaderboards", __name__)


@pages.get("/leaderboards/<ruleset:name>")
def leaderboard(name: str) -> Response:
    """Show the ratings of a ruleset, best first."""
    all_versions = request.args.get("versions") == "all"
    shown = services().leaderboards.leaderboard(anybody(), name, all_versions=all_versions)
    rows: list[dict[str, Any]] = shown["items"]
    number, last = _number(len(rows))
    return page(
        "leaderboard.html",
        here="leaderboards",
        ruleset=name,
        rulesets=RULESETS,
        board=shown,
        rows=rows[(number - 1) * ROWS : number * ROWS],
        scale=_scale(rows),
        all_versions=all_versions,
        number=number,
        last=last,
    )


def _number(rows: int) -> tuple[int, int]:
    """Give the number of the page that is asked for, from 1, and that of the last one."""
    last = max(1, -(-rows // ROWS))
    asked = request.args.get("page", 1, type=int)
    return min(max(1, asked), last), last


def _scale(rows: Sequence[Mapping[str, Any]]) -> Scale:
    """Give the scale of all rows that have a rank: what is provisional would leave them no room."""
    firm = [row for row in rows if row["rank"] is not None] or rows
    return Scale.around(edge for row in firm for edge in (row["low"], row["high"]))
