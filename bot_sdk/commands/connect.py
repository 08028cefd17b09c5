"""``slagbot connect``: a bot without a URL plays from wherever it is."""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any

import click
import msgspec

from bot_sdk import enrolling, printing
from bot_sdk.client import Arena
from bot_sdk.commands.common import as_usage_errors, err, json_option, print_json
from bot_sdk.connecting import THREADS, Connection, Running
from bot_sdk.hosting import OnDecided, Served
from bot_sdk.loading import file_of, load_bot, secret_for
from bot_sdk.registering import NewAccount


@click.command()
@click.argument("bot", metavar="FILE:bot")
@click.option("--arena", envvar="SLAGVELD_ARENA", default="http://127.0.0.1:8000", show_default=True)
@click.option("--token", envvar="SLAGVELD_TOKEN", help="Your account's; without one an account is made.")
@click.option("--account", default=None, help="What to call a new account. Default: the bot's name.")
@click.option("--invite-code", envvar="SLAGVELD_INVITE_CODE", help="Where accounts are by invitation.")
@click.option("--name", default=None, help="Default: the name on the bot's card.")
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
    loaded = load_bot(bot)
    loaded.secret = secret_for(bot) or loaded.secret
    if loaded.secret is None:
        raise click.UsageError("expected the bot's secret in SLAGVELD_BOT_SECRET or .secret, got none")
    signal.signal(signal.SIGTERM, _stop)
    with Arena(arena, token) as client, printing.Printer(_write) as printer:
        enrolled = enrolling.enrol(
            client,
            loaded.card(),
            loaded.secret,
            name=name,
            new_account=NewAccount(account, invite_code),
            tell=_tell,
        )
        connection = Connection(
            arena,
            client.token,
            enrolled.bot_id,
            loaded,
            threads=threads,
            on_decided=_printing(printer, as_json=as_json),
            tell=_tell,
        )
        with Running(connection) as running:
            running.wait_until_connected()
            if enrolled.needs_check and not _check(client, enrolled, str(file_of(bot)[0]), as_json=as_json):
                ctx.exit(1)
            _tell(f"{enrolled.name} ({enrolled.bot_id}) is connected to {arena}; Ctrl-C ends it")
            try:
                running.wait()
            except KeyboardInterrupt:
                _tell("stopped")


def _check(client: Arena, enrolled: enrolling.Enrolled, file: str, *, as_json: bool) -> bool:
    _tell(f"{enrolled.name} is {enrolled.bot_id}, being checked")
    done = enrolling.check(client, enrolled)
    if as_json:
        print_json(msgspec.to_builtins(done))
    else:
        click.echo(enrolling.report(done, client.url, file))
    return done.active


def _tell(text: str) -> None:
    err.print(text, markup=False)


def _printing(printer: printing.Printer, *, as_json: bool) -> OnDecided:
    def decided(served: Served) -> None:
        printer.print(json.dumps(printing.decision_json(served)) if as_json else printing.decision_line(served))

    return decided


def _write(line: bytes) -> None:
    os.write(sys.stdout.fileno(), line)  # past its buffer, whose lock would hold up our end if nobody reads


def _stop(_number: int, _frame: Any) -> None:
    raise KeyboardInterrupt
