"""`slagveld tournament create`: every setting of a new tournament as an option.

What the settings may be is for the arena to say; here only their kind is looked at.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Final

import click

from bot_sdk.client import Arena
from bot_sdk.games.registry import RULESETS
from bot_sdk.registering import make_account
from service.organising.asking import asking, show_json, tell

FORMATS: Final = ("round_robin", "gauntlet", "swiss", "knockout", "ladder", "match")
DEALS: Final = ("field", "fresh", "rotate")


def _option(_ctx: click.Context, _parameter: click.Parameter, given: Sequence[str]) -> dict[str, Any] | None:
    return dict(map(_pair, given)) or None


def _pair(text: str) -> tuple[str, Any]:
    """Read ``target=7`` or ``hook=off``: a value that is JSON is taken as that, another as text."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise click.BadParameter(f"expected KEY=VALUE such as target=7, got {text!r:.80}")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _sprt(_ctx: click.Context, _parameter: click.Parameter, given: str | None) -> dict[str, float] | None:
    if given is None:
        return None
    try:
        numbers = [float(part) for part in given.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in {2, 4}:
        raise click.BadParameter(f"expected ELO0,ELO1 or ELO0,ELO1,ALPHA,BETA such as 0,20, got {given!r:.80}")
    return dict(zip(("elo0", "elo1", "alpha", "beta"), numbers, strict=False))


_SETTINGS: Final = (
    click.option("--ruleset", type=click.Choice(list(RULESETS)), required=True),
    click.option("--option", "options", multiple=True, callback=_option, metavar="KEY=VALUE",
                 help="An option of the ruleset; may be repeated. Only default options are rated."),
    click.option("--format", type=click.Choice(FORMATS), help="Default: round_robin."),
    click.option("--deals", type=click.Choice(DEALS),
                 help="One board for all tables of a round, one each, or one each replayed with everybody in every "
                      "seat (for bots you trust). Default: field; gauntlet, ladder and match: fresh."),
    click.option("--table-size", type=int, help="Default: the fewest the game seats."),
    click.option("--rounds", type=int, help="Default: as the format has it; match: at most so many boards."),
    click.option("--challenger", metavar="BOT", help="Who runs the gauntlet; in a match, whom the test is about."),
    click.option("--advance", type=int, help="Knockout at tables: so many go on. Default: half of them."),
    click.option("--max-games", type=int, help="Ladder: so many. Default: until it is finished by hand."),
    click.option("--sprt", callback=_sprt, metavar="ELO0,ELO1[,ALPHA,BETA]",
                 help="Match with rotate deals: stop once it is clear which of the two holds."),
    click.option("--invite", "invited", multiple=True, metavar="ID",
                 help="A bot or account that may enter; may be repeated. Default: all may."),
    click.option("--entries-per-account", type=int, help="Default: any number."),
    click.option("--seed", type=int, help="For the draw. Default: drawn."),
    click.option("--budget-ms", type=int, help="For each decision of a bot. Default: 1000."),
    click.option("--first-budget-ms", type=int, help="For a bot's first decision. Default: 5000."),
    click.option("--human-budget-ms", type=int, help="For a person's decision. Default: 120000."),
    click.option("--max-faults", type=int, help="So many retire a bot from its game. Default: 5."),
)  # fmt: skip


def settings(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command an option for each setting, in that order."""
    for option in reversed(_SETTINGS):
        command = option(command)
    return command


@click.command()
@click.argument("name")
@settings
@click.option("--account", help="What to call a new account, if you have none. Default: the tournament's name.")
@click.option("--invite-code", envvar="SLAGVELD_INVITE_CODE", help="Where accounts are by invitation.")
@asking
def create(
    arena: Arena, name: str, account: str | None, invite_code: str | None, *, as_json: bool, **chosen: Any
) -> None:
    """Make a tournament called NAME, open for entries until it is started.

    Without a token an account is made, and its token told on stderr.
    """
    more = {setting: value for setting, value in chosen.items() if value is not None and value != ()}
    if not arena.token:
        make_account(arena, account or name, invite_code, tell)
    if "challenger" in more:
        more["challenger"] = arena.find_bot(more["challenger"])
    made = arena.create_tournament(name, **more)
    if as_json:
        show_json(made)
        return
    click.echo(
        f"made {made.name}, a {made.format} of {made.ruleset} with {made.deals} deals: {made.id}\n\n"
        f"next: slagveld tournament enter {made.id} BOT...   (ids of bots, house:greedy)\n"
        f"      slagveld tournament start {made.id} --dry-run\n"
        f"      slagveld tournament start {made.id}\n"
        f"      slagveld tournament watch {made.id}"
    )
