"""``slagbot``: the bot author's tool. Progress goes to stderr, tables and JSON to stdout.

It exits with 0 if all went well, 1 if the answer is no (a check failed, a record doesn't verify), 2 if it was asked for
something that can't be, 130 if Ctrl-C stopped it.
"""

from __future__ import annotations

import logging
import sys

import click

from bot_sdk.commands.account import account
from bot_sdk.commands.check import check
from bot_sdk.commands.common import Commands
from bot_sdk.commands.connect import connect
from bot_sdk.commands.logs import logs
from bot_sdk.commands.new import new
from bot_sdk.commands.pause import pause
from bot_sdk.commands.play import play_command
from bot_sdk.commands.practice import practice
from bot_sdk.commands.register import register
from bot_sdk.commands.replay import replay
from bot_sdk.commands.serve import serve
from bot_sdk.commands.stats import stats_command
from bot_sdk.commands.verify import recompute_command, verify
from bot_sdk.commands.watch import watch


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="slagveld")
def main() -> None:
    """Write, test and host bots for Slagveld."""
    logging.basicConfig(format="%(message)s", stream=sys.stderr)


for command in (
    new,
    serve,
    play_command,
    replay,
    watch,
    check,
    register,
    connect,
    account,
    logs,
    stats_command,
    pause,
    practice,
    verify,
    recompute_command,
):
    main.add_command(command)


if __name__ == "__main__":
    main()
