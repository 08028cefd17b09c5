"""``slagbot play``: matches offline."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import track

from bot_sdk import reports
from bot_sdk.commands.common import as_usage_errors, err, json_option, print_json
from bot_sdk.games import record
from bot_sdk.games.registry import RULESETS
from bot_sdk.loading import load_player
from bot_sdk.local import Match, Played, play, seated
from bot_sdk.summary import summarise


@click.command("play")
@click.argument("bots", nargs=-1, required=True, metavar="BOT...")
@click.option("--ruleset", type=click.Choice(list(RULESETS)), default="seven_up", show_default=True)
@click.option("--games", type=click.IntRange(1), default=None, help="Default: 50 boards, each with every rotation.")
@click.option("--seats", type=click.IntRange(2, 8), default=None, help="Default: as few as the rules allow.")
@click.option("--seed", default="0", show_default=True, help="The same seed deals the same packs.")
@click.option("--options", default="{}", metavar="JSON", help="Options of the ruleset, such as '{\"target\": 3}'.")
@click.option("--budget-ms", type=click.IntRange(50, 30_000), default=1_000, show_default=True)
@click.option("--record", "to", type=click.Path(dir_okay=False, path_type=Path), help="Write the records, a line each.")
@json_option
@as_usage_errors
def play_command(
    *,
    bots: Sequence[str],
    ruleset: str,
    games: int | None,
    seats: int | None,
    seed: str,
    options: str,
    budget_ms: int,
    to: Path | None,
    as_json: bool,
) -> None:
    """Play bots against each other offline.

    BOT is FILE:bot, house:NAME or a URL. Fewer bots than seats sit down in turn until the table is full; wins and
    points are means for one seat, so that those who sit twice compare with those who sit once.
    Every board is played once with each rotation of the seats, so nobody has the better cards.
    """
    rules = RULESETS[ruleset]
    match = Match(rules, _options(options), budget_ms)
    players = [load_player(bot, ruleset) for bot in bots]
    table = seated(players, seats or max(rules.min_seats, len(players)))
    rules.resolve(match.options, len(table))
    number = games or 50 * len(table)
    running = track(play(match, table, games=number, seed=seed), "playing", total=number, console=err)
    who = [seat % len(players) for seat in range(len(table))]
    names = reports.told_apart([player.shown.name for player in players])
    lines = summarise(_recorded(running, to), names, who)
    if as_json:
        print_json({"ruleset": ruleset, "options": rules.resolve(match.options, len(table)), "seed": seed,
                     "games": number, "players": [reports.line_json(line) for line in lines]})  # fmt: skip
    else:
        Console().print(reports.table(lines, f"{rules.title}: {number} games, seed {seed}"))


def _options(text: str) -> dict[str, Any]:
    try:
        options = json.loads(text)
    except ValueError as error:
        raise click.BadParameter(f"expected JSON, got {text!r:.80}: {error}", param_hint="--options") from None
    if not isinstance(options, dict):
        raise click.BadParameter(f"expected a JSON object, got {text!r:.80}", param_hint="--options")
    return options


def _recorded(running: Iterable[Played], to: Path | None) -> Iterable[Played]:
    if to is None:
        yield from running
        return
    with to.open("wb") as out:
        for played in running:
            out.write(record.encode(played.record) + b"\n")
            yield played
