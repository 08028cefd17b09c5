"""``slagbot connect``: a bot without a URL plays from wherever it is."""

from __future__ import annotations

from shlex import join, quote

import click
import msgspec

from bot_sdk import enrolling, printing, registering
from bot_sdk.client import Arena
from bot_sdk.commands.asking import entering
from bot_sdk.commands.common import as_usage_errors, json_option, own_stdout, print_json, tell
from bot_sdk.commands.hosted import end_on_sigterm, showing_decisions, writing_to
from bot_sdk.connecting import THREADS, Connection, Running
from bot_sdk.loading import load_bot, secret_for


@click.command()
@click.argument("bot", metavar="FILE:bot")
@entering
@click.option("--threads", default=THREADS, show_default=True, type=click.IntRange(1, 64), help="Calls at once.")
@json_option
@click.pass_context
@as_usage_errors
def connect(
    ctx: click.Context,
    *,
    bot: str,
    arena: str,
    token: str | None,
    account: str | None,
    invite_code: str | None,
    name: str | None,
    threads: int,
    as_json: bool,
) -> None:
    """Let a bot play that no server can reach, until Ctrl-C; it is registered and checked if need be.

    It fetches what it is asked from the arena, and needs no URL; each decision is shown in a line. Its secret is
    SLAGVELD_BOT_SECRET, or the file .secret beside it. Started more than once, its copies share the work.
    """
    with own_stdout() as out, Arena(arena, token) as client, printing.Printer(writing_to(out)) as printer:
        loaded = load_bot(bot)
        loaded.secret = secret_for(bot) or loaded.secret
        if loaded.secret is None:
            raise click.UsageError("expected the bot's secret in SLAGVELD_BOT_SECRET or .secret, got none")
        end_on_sigterm()
        enrolled = enrolling.enrol(
            client,
            loaded.card(),
            loaded.secret,
            name=name,
            new_account=registering.NewAccount(account, invite_code),
            tell=tell,
        )
        connection = Connection(
            arena,
            client.token,
            enrolled.bot_id,
            loaded,
            threads=threads,
            on_decided=showing_decisions(printer, as_json=as_json),
            tell=tell,
        )
        with Running(connection) as running:
            running.wait_until_connected()
            if enrolled.needs_check:
                tell(f"{enrolled.name} is {enrolled.bot_id}, being checked")
                done = enrolling.check(client, enrolled)
                if as_json:
                    print_json(msgspec.to_builtins(done), to=out)
                else:
                    again = join(["slagbot", "connect", bot, *(("--name", name) if name else ()), "--arena", arena])
                    click.echo(registering.report(done, arena, bot=quote(bot), again=again), file=out)
                if not done.active:
                    ctx.exit(1)
            tell(_connected(enrolled, arena))
            try:
                running.wait()
            except KeyboardInterrupt:
                tell("stopped")


def _connected(bot: enrolling.Enrolled, arena: str) -> str:
    paused = f", but paused: slagbot pause {quote(bot.name)} --resume --arena {arena}" if bot.state == "paused" else ""
    return f"{bot.name} ({bot.bot_id}) is connected to {arena}{paused}; Ctrl-C ends it"
