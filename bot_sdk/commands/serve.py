"""``slagbot serve``: a bot in a server for development."""

from __future__ import annotations

import signal
import sys
from typing import Any

import click

from bot_sdk.commands.common import PORT, as_usage_errors, err, json_option, print_json
from bot_sdk.hosting import Server
from bot_sdk.loading import load_bot, secret_for
from bot_sdk.messages import BotCard


@click.command()
@click.argument("bot", metavar="FILE:bot")
@click.option("--port", default=PORT, show_default=True, type=click.IntRange(0, 65535), help="0 takes a free one.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The IPv4 address to listen on.")
@json_option
@as_usage_errors
def serve(bot: str, port: int, host: str, *, as_json: bool) -> None:
    """Host a bot until Ctrl-C, in a threaded server for development.

    Its secret is SLAGVELD_BOT_SECRET, or the file .secret beside it. Without one, calls aren't verified. In
    production use gunicorn, which reads no file: SLAGVELD_BOT_SECRET=$(cat .secret) gunicorn bot:bot
    """
    loaded = load_bot(bot)
    loaded.secret = secret_for(bot) or loaded.secret
    card = loaded.card()
    signal.signal(signal.SIGTERM, _stop)
    with Server(loaded, host, port) as server:
        try:
            _announce(server.url, card, signed=loaded.secret is not None, as_json=as_json)
            server.serve_forever()
        except KeyboardInterrupt:
            err.print("stopped")


def _announce(url: str, card: BotCard, *, signed: bool, as_json: bool) -> None:
    if as_json:
        print_json({"url": url, "name": card.name, "version": card.version, "signed": signed})
    else:
        verified = "signed calls only" if signed else "calls aren't verified: it has no secret"
        click.echo(f"{card.name} {card.version} listens on {url} ({verified})")
    sys.stdout.flush()


def _stop(_number: int, _frame: Any) -> None:
    raise KeyboardInterrupt
