"""``slagbot stats``: how a bot does."""

from __future__ import annotations

import click

from bot_sdk import account_reports
from bot_sdk.client import Arena
from bot_sdk.commands.asking import asking, print_answer
from bot_sdk.commands.common import screen
from bot_sdk.games.registry import RULESETS
from bot_sdk.stats import stats


@click.command("stats")
@click.argument("bot", required=False)
@click.option("--ruleset", type=click.Choice(list(RULESETS)), help="Ratings and head-to-head of this one only.")
@asking
def stats_command(arena: Arena, bot: str | None, ruleset: str | None, *, as_json: bool) -> None:
    """Show a bot's ratings, what it made of its games against each other bot, and how its decisions went.

    BOT is the name or id of a bot of your own; it may be left out if you have one.
    """
    found = stats(arena, arena.own_bot(bot), ruleset=ruleset)
    if as_json:
        print_answer(found)
    else:
        screen().print(account_reports.stats(found))
