"""The page of one bot: how strong it is, how it answers, whom it met, what it played last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from flask import Blueprint, Response, request

from bot_sdk.events import Outcome
from bot_sdk.games.registry import RULESETS
from service.api.bots import bot_view
from service.api.context import services
from service.web.site import anybody, page
from service.web.writing import duration, percent

GAMES: Final = 20
OPPONENTS: Final = 12
"""So many are shown at once, the others when they are asked for."""
SAID: Final = {
    Outcome.OK: "answered in time with a legal action",
    Outcome.LATE: "no answer within the budget",
    Outcome.UNREACHABLE: "no connection",
    Outcome.BAD_STATUS: "an HTTP status other than 200",
    Outcome.BAD_REPLY: "an answer that can't be read",
    Outcome.ILLEGAL: "an action that isn't legal",
    Outcome.RETIRED: "not asked, since it had retired",
}

pages = Blueprint("bot", __name__)
pages.add_app_template_filter(duration)
pages.add_app_template_filter(percent)


@pages.get("/bots/<bot:bot_id>")
def show(bot_id: str) -> Response:
    """Show a bot."""
    use, asking = services(), anybody()
    bot = bot_view(use.bots.get(asking, bot_id), asking)
    games, following = use.appearances.games(asking, bot_id, limit=GAMES, cursor=request.args.get("games"))
    return page(
        "bot.html",
        here="bots",
        bot=bot,
        titles={name: ruleset.title for name, ruleset in RULESETS.items()},
        chapters=_chapters(bot_id),
        games=[_game(each) for each in games],
        following=following,
        is_continued="games" in request.args,
        few=OPPONENTS,
    )


def _chapters(bot_id: str) -> list[dict[str, Any]]:
    """Give what there is to tell of a bot in each ruleset that it has played, by ruleset."""
    use, asking = services(), anybody()
    ratings = {each["ruleset"]: each for each in use.leaderboards.ratings(asking, bot_id)}
    statistics = {each["ruleset"]: each for each in use.appearances.statistics(asking, bot_id)}
    return [
        {
            "ruleset": name,
            "title": ruleset.title,
            "rating": ratings.get(name),
            "rank": _rank(bot_id, name) if name in ratings else None,
            "opponents": use.leaderboards.opponents(asking, bot_id, name),
            "lately": _summed(statistics[name]) if name in statistics else None,
        }
        for name, ruleset in RULESETS.items()
        if name in ratings or name in statistics
    ]


def _rank(bot_id: str, ruleset: str) -> tuple[int | None, int]:
    """Give a bot's rank, if it has one, and how many have."""
    rows = services().leaderboards.leaderboard(anybody(), ruleset, all_versions=False)["items"]
    own = next((row["rank"] for row in rows if row["bot_id"] == bot_id), None)
    return own, sum(row["rank"] is not None for row in rows)


def _summed(statistics: Mapping[str, Any]) -> dict[str, Any]:
    """Give statistics with shares, in words, and what half and nearly all of the decisions took at most."""
    decisions = statistics["decisions"]
    timed = sum(each["decisions"] for each in statistics["times"])
    return {
        **statistics,
        "outcomes": [
            {"outcome": name, "said": SAID[Outcome(name)], "count": count, "share": count / decisions}
            for name, count in statistics["outcomes"].items()
        ],
        "times": [{**each, "share": each["decisions"] / timed} for each in statistics["times"]],
        "half": _quantile(statistics["times"], timed * 0.5),
        "most": _quantile(statistics["times"], timed * 0.99),
    }


def _quantile(times: Sequence[Mapping[str, Any]], count: float) -> Mapping[str, Any] | None:
    """Give the class in which so many decisions, from the quickest on, are reached; None if there are none."""
    reached = 0
    for each in times:
        reached += each["decisions"]
        if reached >= count:
            return each
    return None


def _game(shown: Mapping[str, Any]) -> dict[str, Any]:
    """Give a game of the list with what is told of it at a glance."""
    own: list[int] = shown["own_seats"]
    places: list[int] | None = shown["places"]
    return {
        **shown,
        "others": [seat for number, seat in enumerate(shown["seats"]) if number not in own],
        "own_places": None if places is None else [places[seat] for seat in own],
        "is_won": places is not None and min(places[seat] for seat in own) == 1,
        "points": [shown["totals"][seat] for seat in own],
        "faults": sum(count for name, count in shown["outcomes"].items() if Outcome(name).is_fault),
    }
