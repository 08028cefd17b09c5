"""``slagbot account``: who one is at an arena."""

from __future__ import annotations

import click

from bot_sdk import account_reports
from bot_sdk.client import Arena
from bot_sdk.commands.asking import asking, print_answer
from bot_sdk.commands.common import screen


@click.command()
@asking
def account(arena: Arena, *, as_json: bool) -> None:
    """Show your account: its bots, their states, and its tokens (without the tokens)."""
    shown, bots, tokens = arena.me(), list(arena.bots(owner="me")), list(arena.tokens())
    if as_json:
        print_answer({"account": shown, "bots": bots, "tokens": tokens})
    else:
        screen().print(account_reports.account(shown, bots, tokens))
