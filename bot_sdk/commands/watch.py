"""``slagbot watch``: a game as it is played, or a record step by step."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import click

from bot_sdk import showing
from bot_sdk.client import Arena
from bot_sdk.commands.asking import arena_option
from bot_sdk.commands.common import as_usage_errors, json_option, print_json, tell
from bot_sdk.following import PATIENCE_S
from bot_sdk.games.record import Record
from bot_sdk.replaying import Step, Steps, choose
from bot_sdk.watching import Watching, is_game_id

KEYS: Final = "any key: the next decision, d: to the end of the deal, a: all, q: leave"


@click.command()
@click.argument("what", metavar="GAME|RECORD")
@arena_option
@click.option("--patience", default=PATIENCE_S, show_default=True, type=click.FloatRange(0), metavar="SECONDS",
              help="How long the arena may be away.")  # fmt: skip
@click.option("--game", default=None, metavar="ID", help="Which, where RECORD holds several games.")
@click.option("--all", "at_once", is_flag=True, help="Show a record without waiting for keys.")
@json_option
@as_usage_errors
def watch(what: str, *, arena: str, patience: float, game: str | None, at_once: bool, as_json: bool) -> None:
    """Show a game: live, by its id, or from a file of records ("-" is stdin), decision by decision.

    A live game is shown from its beginning to its end, and taken up again where a lost connection broke it off; Ctrl-C
    leaves it. A record waits for a key before each decision, except with --all or where that isn't a terminal. The
    number before a decision is what replay takes as --at.
    """
    if is_game_id(what):
        with Arena(arena) as client:
            _live(Watching(client, what, patience_s=patience, tell=tell), as_json=as_json)
        return
    if what != "-" and not Path(what).is_file():
        raise click.UsageError(f"expected the id of a game, or a file of records, got {what!r:.200}")
    with click.open_file(what, "rb") as lines:
        recorded = choose(lines, game)
    if as_json:
        _as_json(Steps(recorded))
    else:
        keyed = not at_once and what != "-" and sys.stdin.isatty() and sys.stdout.isatty()
        _in_words(recorded, click.getchar if keyed else None)


def _live(watching: Watching, *, as_json: bool) -> None:
    for event in watching.events():
        if as_json:
            print_json(event)
        else:
            click.echo(showing.event_text(event, watching.names))
        sys.stdout.flush()


def _as_json(steps: Steps) -> None:
    print_json({"at": None, "news": steps.opening})
    for step in steps:
        print_json(showing.step_json(step))


def _in_words(recorded: Record, key: Callable[[], str] | None) -> None:
    names = showing.seat_names([seat.name for seat in recorded.seats])
    click.echo(f"{showing.game_text(recorded.game_id, recorded.ruleset, names)}, {recorded.status}")
    steps = Steps(recorded)
    for news in steps.opening:
        click.echo(showing.event_text(news, names))
    for step in _paced(steps, key):
        for line in showing.step_text(step, names):
            click.echo(line)


def _paced(steps: Steps, key: Callable[[], str] | None) -> Iterator[Step]:
    """Give the steps as fast as keys are pressed for them, if there are keys."""
    if key is not None:
        tell(KEYS)
    until: Any = None  # the deal that is shown to its end
    for step in steps:
        if key is not None and step.deal != until:
            pressed = key()
            if pressed == "q":
                return
            until = step.deal if pressed == "d" else None
            key = None if pressed == "a" else key
        yield step
