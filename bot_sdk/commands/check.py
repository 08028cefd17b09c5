"""``slagbot check``: the conformance check."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import click
import msgspec

from bot_sdk import reports
from bot_sdk.check import Step, passed
from bot_sdk.checking.whole import Manner, check_bot, check_url
from bot_sdk.commands.common import as_usage_errors, json_option, own_stdout, print_json
from bot_sdk.loading import file_of, is_url, load_bot, secret_for
from bot_sdk.messages import BUDGET_MS


@click.command()
@click.argument("bot", metavar="URL|FILE:bot")
@click.option("--seed", default="check", show_default=True, help="The same seed asks the same positions.")
@click.option(
    "--budget-ms", default=BUDGET_MS, show_default=True, type=click.IntRange(50, 30_000), help="Of a decision."
)
@click.option("--strict", is_flag=True, help="Let warnings fail the check, too.")
@json_option
@click.pass_context
@as_usage_errors
def check(ctx: click.Context, bot: str, seed: str, *, budget_ms: int, strict: bool, as_json: bool) -> None:
    """Check a bot as the arena does before it lets it play, and how it serves.

    Each fault is named, with the field of the answer or the line of the code; docs/faq.md tells more by its name. It
    exits with 0 if the check is passed, with 1 if it failed. Times are no more than warned of: machines differ.

    Its secret is SLAGVELD_BOT_SECRET, or the file .secret beside it (for a URL: here). Without one it is asked
    unsigned.
    """
    with own_stdout() as out:
        steps: list[Step] = []
        for step in _steps(bot, Manner(secrets.token_hex(16), seed, budget_ms)):
            if not as_json:
                click.echo(reports.step_text(step, steps), file=out)
            steps.append(step)
    ok = passed(steps) and not (strict and any(step.warning for step in steps))
    if as_json:
        print_json({"passed": ok, "steps": msgspec.to_builtins(steps)})
    else:
        click.echo(reports.verdict_text(steps))
    ctx.exit(0 if ok else 1)


def _steps(bot: str, manner: Manner) -> Iterator[Step]:
    secret = secret_for(bot)
    if is_url(bot):
        return check_url(bot, secret, manner)
    loaded = load_bot(bot)
    loaded.secret = secret or loaded.secret
    loaded.card()  # one that lacks phases isn't even served
    return check_bot(loaded, file_of(bot)[0].parent, manner)
