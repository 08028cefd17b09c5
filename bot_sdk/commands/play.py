"""``slagbot play``: matches offline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import click
from rich.progress import track

from bot_sdk import replaying, reports, showing
from bot_sdk.commands.common import as_usage_errors, err, json_option, print_json, screen, tell
from bot_sdk.commands.options import options_option
from bot_sdk.games import record
from bot_sdk.games.registry import RULESETS
from bot_sdk.local import Match, Played
from bot_sdk.parallel.pool import opened
from bot_sdk.plain import plain
from bot_sdk.summary import Summing


@click.command("play")
@click.argument("bots", nargs=-1, required=True, metavar="BOT...")
@click.option("--ruleset", type=click.Choice(list(RULESETS)), default="seven_up", show_default=True)
@click.option("--games", type=click.IntRange(1), default=None, help="Default: 50 boards, each with every rotation.")
@click.option("--seats", type=click.IntRange(2, 8), default=None, help="Default: as few as the rules allow.")
@click.option("--seed", default="0", show_default=True, help="The same seed deals the same packs.")
@options_option
@click.option("--budget-ms", type=click.IntRange(50, 30_000), default=1_000, show_default=True)
@click.option("--jobs", type=click.IntRange(1, 256), default=1, show_default=True, help="Processes that play.")
@click.option("--record", "to", type=click.Path(dir_okay=False, path_type=Path), help="Write the records, a line each.")
@click.option("--debug-seat", type=click.IntRange(0, 7), default=None, help="Print what this seat saw and chose.")
@json_option
@as_usage_errors
def play_command(
    *,
    bots: Sequence[str],
    ruleset: str,
    games: int | None,
    seats: int | None,
    seed: str,
    options: dict[str, Any],
    budget_ms: int,
    jobs: int,
    to: Path | None,
    debug_seat: int | None,
    as_json: bool,
) -> None:
    """Play bots against each other offline.

    BOT is FILE:bot, house:NAME or a URL. Fewer bots than seats sit down in turn until the table is full; wins and
    points are means for one seat, so that those who sit twice compare with those who sit once.
    Every board is played once with each rotation of the seats, so nobody has the better cards. Games are played in
    processes of their own: the same seed gives the same games in the same order by any number of --jobs, as far as the
    bots remember nothing from game to game. With more jobs than processors bots wait for each other, and may be late.
    With --json each decision of --debug-seat is a line, and the results are the last.
    """
    rules = RULESETS[ruleset]
    match = Match(rules, options, budget_ms)
    table = seats or max(rules.min_seats, len(bots))
    resolved = rules.resolve(match.options, table)
    number = games or 50 * table
    with (
        opened(match, bots, seats=table, seed=seed, jobs=min(jobs, number), debug_seat=debug_seat, tell=tell) as pool,
        _writing(to) as out,  # only now: a match that can't be played leaves the file of another one as it is
    ):
        names = reports.told_apart([plain(player.name) for player in pool.players])
        summing = Summing(names, [seat % len(bots) for seat in range(table)])
        # in a terminal a bar would stand amid the decisions
        progress = track(pool.play(number), "playing", total=number, console=err, disable=debug_seat is not None)
        for played in progress:
            if out is not None:
                out.write(record.encode(played.record) + b"\n")
            if debug_seat is not None:
                _show_seat(played, debug_seat, as_json=as_json)
            summing.add(played)
    lines, pairs = summing.lines(), summing.comparisons()
    if as_json:
        print_json({"ruleset": ruleset, "options": resolved, "seed": seed, "games": number,
                    "players": [reports.line_json(line) for line in lines],
                    "pairs": [reports.pair_json(pair) for pair in pairs]})  # fmt: skip
        return
    console = screen()
    console.print(reports.table(lines, f"{rules.title}: {number} games, seed {seed}"))
    if pairs:
        console.print(reports.pairs_table(pairs))


@contextmanager
def _writing(to: Path | None) -> Iterator[IO[bytes] | None]:
    if to is None:
        yield None
        return
    with to.open("wb") as out:
        yield out


def _show_seat(played: Played, seat: int, *, as_json: bool) -> None:
    """Print the decisions of a seat in a game, with what it answered."""
    asked = [decision for decision in replaying.decisions(played.record) if decision.message.seat == seat]
    for decision, answered in zip(asked, played.answers, strict=True):
        if as_json:
            print_json(showing.decision_json(decision, answered))
        else:
            click.echo(showing.chosen_text(decision, answered, [shown.name for shown in played.record.seats]))
