"""``slagbot pause``: a bot's maintenance flag."""

from __future__ import annotations

from shlex import quote

import click

from bot_sdk.client import Arena
from bot_sdk.commands.asking import asking, print_answer


@click.command()
@click.argument("bot", required=False)
@click.option("--resume", is_flag=True, help="Let it play again.")
@asking
def pause(arena: Arena, bot: str | None, *, resume: bool, as_json: bool) -> None:
    """Pause a bot: its running games go on, and no game begins; those that wait for it in tournaments are forfeited.

    BOT is the name or id of a bot of your own; it may be left out if you have one.
    """
    own = arena.own_bot(bot)
    changed = arena.change_bot(own.id, state="active" if resume else "paused")
    if as_json:
        print_answer(changed)
    else:
        click.echo(f"{changed.name} ({changed.id}) is {changed.state}")
        if not resume:
            click.echo(f"\nnext: slagbot pause {quote(changed.name)} --resume")
