"""``slagbot logs``: what a bot was asked and how it went."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

import click

from bot_sdk.account_reports import ledger_line
from bot_sdk.answers import LedgerLine
from bot_sdk.client import Arena
from bot_sdk.commands.asking import asking, print_answer
from bot_sdk.events import Outcome
from bot_sdk.ledger import Ledger


@click.command()
@click.argument("bot", required=False)
@click.option("--outcome", "outcomes", multiple=True, type=click.Choice([outcome.value for outcome in Outcome]),
              help="Only decisions that went so; may be repeated.")  # fmt: skip
@click.option("-n", "--lines", "count", type=click.IntRange(0), default=20, show_default=True, help="So many at most.")
@click.option("-f", "--follow", is_flag=True, help="Then show further ones as they come, until Ctrl-C.")
@asking
def logs(arena: Arena, bot: str | None, outcomes: Sequence[str], count: int, *, follow: bool, as_json: bool) -> None:
    """Show the latest decisions of a bot: outcome, time, action, what went wrong, the head of what it answered.

    BOT is the name or id of a bot of your own; it may be left out if you have one. --json prints a line each.
    """
    ledger = Ledger(arena, arena.own_bot(bot).id, sleep=time.sleep, clock=time.monotonic)
    for line in ledger.latest(count, outcomes):
        _show(line, as_json=as_json)
    for line in ledger.follow(outcomes) if follow else ():
        _show(line, as_json=as_json)


def _show(line: LedgerLine, *, as_json: bool) -> None:
    if as_json:
        print_answer(line)
    else:
        click.echo(ledger_line(line))
    sys.stdout.flush()
