"""``slagbot practice``: unrated games against house bots."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

import click

from bot_sdk import account_reports
from bot_sdk.client import Arena
from bot_sdk.commands.asking import asking, print_answer
from bot_sdk.commands.options import options_option
from bot_sdk.games.registry import RULESETS
from bot_sdk.practising import TIMEOUT_S, Practice, Practised, houses_for, table


@click.command()
@click.argument("bot", required=False)
@click.option("--against", multiple=True, default=["greedy"], show_default=True, metavar="HOUSE",
              help="A house bot; may be repeated: they sit down in turn.")  # fmt: skip
@click.option("--ruleset", type=click.Choice(list(RULESETS)), help="Default: the bot's first.")
@click.option("--games", type=click.IntRange(1), default=10, show_default=True)
@click.option("--seats", type=click.IntRange(2, 8), help="Default: as few as the rules allow.")
@click.option("--at-once", type=click.IntRange(1), default=4, show_default=True, help="Games that run side by side.")
@options_option
@click.option("--timeout", type=click.FloatRange(0), default=TIMEOUT_S, show_default=True, metavar="SECONDS",
              help="How long to wait for the next game to end.")  # fmt: skip
@asking
def practice(
    arena: Arena,
    *,
    bot: str | None,
    against: Sequence[str],
    ruleset: str | None,
    games: int,
    seats: int | None,
    at_once: int,
    options: dict[str, object],
    timeout: float,
    as_json: bool,
) -> None:
    """Play unrated games of a bot of yours against house bots, at the arena, and show each as it ends.

    BOT is its name or id; it may be left out if you have one. It takes the seats in turn. Games that run at Ctrl-C go
    on by themselves. --json prints a line each.
    """
    own = arena.own_bot(bot)
    at = table(own, ruleset, against, seats, options)
    playing = Practice(arena, own, at, sleep=time.sleep, clock=time.monotonic)
    played: list[Practised] = []
    for one in playing.play(games, at_once=at_once, timeout_s=timeout):
        played.append(one)
        if as_json:
            print_answer(one)
        else:
            click.echo(account_reports.practised(one, len(played), games))
        sys.stdout.flush()
    if not as_json:
        click.echo(account_reports.practice(played, own))
        click.echo(f"\n{account_reports.rated_games(own, at.ruleset, houses_for(arena, at), arena.url)}".rstrip())
