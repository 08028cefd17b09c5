"""How a bot does, as far as its arena knows: ratings, head-to-head, and how its latest decisions went."""

from __future__ import annotations

from msgspec import Struct

from bot_sdk.answers import BotView, OpponentView, RatingsView
from bot_sdk.client import Arena
from bot_sdk.ledger import counted


class Stats(Struct, frozen=True, kw_only=True):
    """A bot with its ratings and opponents by ruleset.

    `outcomes` count its latest `decisions`, as far back as the arena keeps them: to `since`, Unix milliseconds.
    """

    bot: BotView
    ratings: list[RatingsView]
    opponents: list[OpponentView]
    outcomes: dict[str, int]
    decisions: int
    since: int | None


def stats(arena: Arena, bot: BotView, *, ruleset: str | None = None) -> Stats:
    """Ask an arena how a bot of one's own does, in one ruleset or all; raises `ArenaError`."""
    lines = list(arena.decisions(bot.id))
    ratings = [each for each in arena.ratings(bot.id) if ruleset in {None, each.ruleset}]
    return Stats(
        bot=bot,
        ratings=ratings,
        opponents=list(arena.opponents(bot.id, ruleset=ruleset)),
        outcomes=counted(lines),
        decisions=len(lines),
        since=lines[-1].at if lines else None,
    )
