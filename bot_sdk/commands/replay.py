"""``slagbot replay``: a bot asked a recorded decision again."""

from __future__ import annotations

import click

from bot_sdk import showing
from bot_sdk.commands.common import as_usage_errors, json_option, own_stdout, print_json
from bot_sdk.loading import load_asked_again
from bot_sdk.replaying import choose, decision_at, place_in


@click.command()
@click.argument("file", metavar="RECORD")
@click.option("--ask", "bot", required=True, metavar="BOT", help="FILE:bot, house:NAME or a URL.")
@click.option("--at", "place", required=True, metavar="DEAL.EVENT", help="Both from 0, as watch shows them.")
@click.option("--game", default=None, metavar="ID", help="Which, where RECORD holds several games.")
@json_option
@as_usage_errors
def replay(file: str, *, bot: str, place: str, game: str | None, as_json: bool) -> None:
    """Ask a bot again what a seat of a recorded game was asked.

    The bot gets the message that the seat got, to the letter: observation, legal actions, how its last decision went,
    budget. It is asked in this process, so that a debugger reaches it. RECORD is a file of records, "-" is stdin.
    """
    with click.open_file(file, "rb") as records:
        recorded = choose(records, game)
    decision = decision_at(recorded, *place_in(place))
    with own_stdout():
        answered = load_asked_again(bot, recorded).ask(decision.message)
    if as_json:
        print_json(showing.decision_json(decision, answered))
    else:
        click.echo(showing.asked_again_text(decision, answered, [seat.name for seat in recorded.seats]))
