"""``slagbot check``: the conformance check."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import click
import msgspec

from bot_sdk import check as checking
from bot_sdk import reports
from bot_sdk.commands.common import as_usage_errors, json_option, print_json
from bot_sdk.hosting import serving
from bot_sdk.loading import is_url, load_bot, secret_for
from bot_sdk.remote import Remote


@click.command()
@click.argument("bot", metavar="URL|FILE:bot")
@click.option("--seed", default="check", show_default=True, help="The same seed asks the same positions.")
@json_option
@click.pass_context
@as_usage_errors
def check(ctx: click.Context, bot: str, seed: str, *, as_json: bool) -> None:
    """Check a bot as the arena does before it lets it play.

    Its secret is SLAGVELD_BOT_SECRET, or the file .secret beside it (for a URL: here). Without one it is asked
    unsigned.
    """
    secret = secret_for(bot)
    if is_url(bot):
        steps = _checked(bot, secret, seed)
    else:
        loaded = load_bot(bot)
        loaded.secret = secret or loaded.secret
        with serving(loaded) as server:
            steps = _checked(server.url, loaded.secret, seed)
    _report(ctx, steps, as_json=as_json)


def _checked(url: str, secret: str | None, seed: str) -> list[checking.Step]:
    remote = Remote(url)
    try:
        return list(checking.run(remote, bot_id="bot_check", secret=secret, challenge=secrets.token_hex(16), seed=seed))
    finally:
        remote.close()


def _report(ctx: click.Context, steps: Sequence[checking.Step], *, as_json: bool) -> None:
    ok = checking.passed(steps)
    if as_json:
        print_json({"passed": ok, "steps": msgspec.to_builtins(steps)})
    else:
        click.echo(reports.steps_text(steps))
        click.echo("passed" if ok else "failed")
    ctx.exit(0 if ok else 1)
