"""``slagbot verify`` and ``slagbot recompute``: what an arena claims, done again."""

from __future__ import annotations

from collections.abc import Iterable

import click
from rich.progress import track

from bot_sdk import reports
from bot_sdk.commands.common import as_usage_errors, err, json_option, print_json
from bot_sdk.games import record
from bot_sdk.results import export, recompute


@click.command()
@click.argument("records", type=click.File("rb"), metavar="RECORD")
@json_option
@click.pass_context
def verify(ctx: click.Context, records: Iterable[bytes], *, as_json: bool) -> None:
    """Replay the records of a JSON Lines file ("-" is stdin) and compare all that they claim.

    A file may also hold one record laid out over many lines. Exits with 1 if one doesn't hold, and says which and why.
    """
    verified = 0
    failures = []
    for number, line in track(record.lines(records), "verifying", console=err, disable=not err.is_terminal):
        try:
            record.verify(record.read(line))
            verified += 1
        except record.RecordError as error:
            failures.append({"line": number, "error": str(error)})
    if as_json:
        print_json({"verified": verified, "failures": failures})
    else:
        for failure in failures:
            click.echo(f"line {failure['line']}: {failure['error']}")
        click.echo(f"{verified} verified, {len(failures)} refused")
    ctx.exit(0 if verified and not failures else 1)


@click.command("recompute")
@click.argument("exported", type=click.File("rb"), metavar="EXPORT")
@json_option
@click.pass_context
@as_usage_errors
def recompute_command(ctx: click.Context, exported: Iterable[bytes], *, as_json: bool) -> None:
    """Recompute the standings of a tournament's export in JSON Lines ("-" is stdin), and compare.

    Exits with 1 if the export says anything else than follows from its results, and says what.
    """
    found = export.read(exported)
    differing = recompute.differences(found)
    if as_json:
        print_json(reports.recomputed_json(found, differing))
    else:
        click.echo(reports.recomputed_text(found, differing))
    ctx.exit(1 if differing else 0)
