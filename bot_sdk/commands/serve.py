"""``slagbot serve``: a bot in a server for development."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from shlex import quote
from typing import TextIO

import click

from bot_sdk import printing, signing
from bot_sdk.bot import Bot
from bot_sdk.commands.asking import ARENA
from bot_sdk.commands.common import PORT, as_usage_errors, json_option, own_stdout, print_json, tell
from bot_sdk.commands.hosted import end_on_sigterm, showing_decisions, writing_to
from bot_sdk.errors import reason
from bot_sdk.hosting import OnDecided, OnExchanged, Reply, Server
from bot_sdk.loading import secret_for
from bot_sdk.reloading import Source, keep_current


@click.command()
@click.argument("bot", metavar="FILE:bot")
@click.option("--port", default=PORT, show_default=True, type=click.IntRange(0, 65535), help="0 takes a free one.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The IPv4 address to listen on.")
@click.option("--reload", is_flag=True, help="Load the bot anew when its file or a module beside it changes.")
@click.option("--secret", metavar="whsec_…", help="Sign with this one; others on this machine may see it.")
@click.option("-v", "--verbose", is_flag=True, help="Show every message and its reply, too.")
@json_option
@as_usage_errors
def serve(bot: str, *, port: int, host: str, reload: bool, secret: str | None, verbose: bool, as_json: bool) -> None:
    """Host a bot until Ctrl-C, in a threaded server for development, and show each decision in a line.

    Its secret is SLAGVELD_BOT_SECRET, or the file .secret beside it. Without one, calls aren't verified. In
    production use gunicorn, which reads no file: SLAGVELD_BOT_SECRET=$(cat .secret) gunicorn bot:bot
    """
    if secret is not None:
        _check(secret)

    def prepare(loaded: Bot) -> None:
        loaded.secret = secret or secret_for(bot) or loaded.secret
        loaded.card()

    sys.dont_write_bytecode |= reload  # what is compiled of one edit would be taken for the next of the same second
    with own_stdout() as out:
        source = Source(bot, prepare)
        end_on_sigterm()
        with (
            printing.Printer(writing_to(out)) as printer,
            _listen(source.bot, host, port, *_watching(printer, verbose=verbose, as_json=as_json)) as server,
            _keeping_current(source, server) if reload else nullcontext(),
        ):
            try:
                _announce(server, bot, out, as_json=as_json)
                server.serve_forever()
            except KeyboardInterrupt:
                tell("stopped")


def _check(secret: str) -> None:
    try:
        signing.check_secret(secret)
    except signing.SigningError as error:
        raise click.BadParameter(str(error), param_hint="--secret") from None


def _listen(bot: Bot, host: str, port: int, on_decided: OnDecided, on_exchanged: OnExchanged | None) -> Server:
    try:
        return Server(bot, host, port, on_decided=on_decided, on_exchanged=on_exchanged)
    except OSError as error:
        expected = f"expected an address that is free, got {host}:{port}"
        raise click.UsageError(f"{expected}: {reason(error)} (see --port and --host)") from error


def _watching(printer: printing.Printer, *, verbose: bool, as_json: bool) -> tuple[OnDecided, OnExchanged | None]:
    def exchanged(body: bytes, reply: Reply) -> None:
        printer.print(
            json.dumps(printing.exchange_json(body, reply)) if as_json else printing.exchange_lines(body, reply)
        )

    return showing_decisions(printer, as_json=as_json), exchanged if verbose else None


@contextmanager
def _keeping_current(source: Source, server: Server) -> Iterator[None]:
    stopped = threading.Event()

    def swap(bot: Bot) -> None:
        server.bot = bot

    threading.Thread(target=keep_current, args=(source, swap, tell, stopped), name="reloading", daemon=True).start()
    try:
        yield
    finally:
        stopped.set()


def _announce(server: Server, bot: str, out: TextIO, *, as_json: bool) -> None:
    signed = server.bot.secret is not None
    card = server.bot.card()
    if as_json:
        print_json({"url": server.url, "name": card.name, "version": card.version, "signed": signed}, to=out)
    else:
        verified = "signed calls only" if signed else "calls aren't verified: it has no secret"
        steps = (
            (f"slagbot register {quote(bot)} --url {server.url} --arena {ARENA}", "an arena that reaches it here"),
            (f"slagbot connect {quote(bot)} --arena {ARENA}", "any other, without this server"),
        )
        width = max(len(command) for command, _ in steps)
        click.echo(f"{card.name} {card.version} listens on {server.url} ({verified}); Ctrl-C stops it", file=out)
        click.echo("\nnext, in another terminal:", file=out)
        click.echo("".join(f"  {command:<{width}}  # {purpose}\n" for command, purpose in steps), file=out)
    out.flush()
