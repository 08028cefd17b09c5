"""What states, formats and deals are called, and how far a tournament is, in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from service.arena.overviews import Overview
from service.tournaments.boards import FIELD, FRESH, ROTATE
from service.tournaments.formats import FORMATS
from service.web.writing import count, span

STATES: Final[Mapping[str, str]] = {
    "open": "open for entries",
    "running": "running",
    "paused": "paused",
    "finished": "finished",
    "cancelled": "cancelled",
}
DEALS: Final[Mapping[str, str]] = {
    FIELD: "All tables of a round play the same board, so that better cards are nobody's luck. Until the last game on "
    "a board has ended, its games show who plays and their state, and count for nothing on this page.",
    FRESH: "Every table has a board of its own, so its games can be watched as they are played.",
    ROTATE: "Every table plays its board once for each of its seats, and everyone sits once in each. Until the last of "
    "these games has ended, they show who plays and their state, and count for nothing on this page.",
}
_SETTINGS: Final[Mapping[str, str]] = {
    "rounds": "Rounds",
    "advance": "Go on from a table",
    "max_games": "Games at most",
    "entries_per_account": "Entries an account",
}


def called(name: str) -> str:
    """Give the name of a ruleset or format as people write it."""
    return name.replace("_", " ").capitalize() if name != "seven_up" else "Seven Up"


def settings(shown: Overview) -> list[tuple[str, str]]:
    """List what was chosen: settings of the format, options of the game, limits of a decision."""
    view = shown.view
    chosen = [(label, f"{view[name]:,}") for name, label in _SETTINGS.items() if view[name] is not None]
    if view["table_size"] > 2:
        chosen.append(("Seats at a table", str(view["table_size"])))
    if view["invited"] is not None:
        chosen.append(("Who may enter", "whom the organiser has invited"))
    options = [(name.replace("_", " ").capitalize(), _written(value)) for name, value in view["options"].items()]
    limits = view["limits"]
    times = f"{limits['budget_ms']:,} ms, {limits['first_budget_ms']:,} ms for the first"
    return [*chosen, *options, ("A decision may take", times), ("Retired after", count(limits["max_faults"], "fault"))]


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value).replace("_", " ")


def progress(view: Mapping[str, Any]) -> str:
    """Say how far it is."""
    at, state = view["progress"], view["state"]
    if state == "open":
        entered = count(view["entries"], "entry", "entries")
        if not at["planned"]:
            return f"{entered}; it takes at least {view['table_size']} to start."
        return f"{entered}; started with them, it comes to {count(at['planned'], 'game')} at most."
    if state in {"finished", "cancelled"}:
        return f"{at['finished']:,} of {count(at['games'], 'game')} have ended."
    of = "" if at["planned"] is None else f" of {at['planned']:,}"
    told = [f"{at['finished']:,}{of} games have ended", *([f"{at['running']:,} under way"] if at["running"] else [])]
    return f"{', '.join(told)}{_rest(state, at)}."


def _rest(state: str, at: Mapping[str, Any]) -> str:
    if state == "paused":
        return "; no other begins while it is paused"
    if at["planned"] is None:
        return "; it goes on until it is stopped"
    return "" if not at["seconds_left"] else f"; about {span(at['seconds_left'])} left"


def about(name: str) -> str:
    """Say in a clause what a format is, without the marks of the API's own text."""
    return FORMATS[name].about.replace("`", "")
