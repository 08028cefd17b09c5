"""``slagbot register``: a bot that is served becomes one of an arena."""

from __future__ import annotations

from shlex import join, quote

import click
import msgspec

from bot_sdk import registering
from bot_sdk.client import Arena
from bot_sdk.commands.asking import entering
from bot_sdk.commands.common import PORT, as_usage_errors, json_option, print_json, tell
from bot_sdk.loading import is_url, secret_for
from bot_sdk.plain import plain_lines
from bot_sdk.replies import BadReply


@click.command()
@click.argument("bot", metavar="URL|FILE:bot")
@entering
@click.option("--url", default=None, help=f"Where the arena reaches a FILE:bot. Default: http://127.0.0.1:{PORT}")
@json_option
@click.pass_context
@as_usage_errors
def register(
    ctx: click.Context,
    *,
    bot: str,
    arena: str,
    token: str | None,
    account: str | None,
    invite_code: str | None,
    url: str | None,
    name: str | None,
    as_json: bool,
) -> None:
    """Register a bot that is being served, have it checked, and say what comes next.

    Its secret is SLAGVELD_BOT_SECRET, or the file .secret beside it (for a URL: here).
    """
    secret = secret_for(bot)
    if secret is None:
        raise click.UsageError("expected the bot's secret in SLAGVELD_BOT_SECRET or .secret, got none")
    url = bot if is_url(bot) else url or f"http://127.0.0.1:{PORT}"
    with Arena(arena, token) as client:
        try:
            done = registering.register(
                client,
                url,
                secret,
                name=name,
                new_account=registering.NewAccount(account, invite_code),
                tell=tell,
            )
        except BadReply as error:
            serve = "" if is_url(bot) else f"\nnext: in another terminal, slagbot serve {quote(bot)}"
            raise click.UsageError(f"{plain_lines(str(error))}{serve}") from error
    if as_json:
        print_json(msgspec.to_builtins(done))
    else:
        at = () if is_url(bot) else ("--url", url)
        named = ("--name", name) if name else ()
        again = join(["slagbot", "register", bot, *at, *named, "--arena", arena])
        click.echo(registering.report(done, arena, bot=quote(bot), again=again))
    ctx.exit(0 if done.active else 1)
