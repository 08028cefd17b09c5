"""A process in which house bots fetch their calls from an arena, until its stdin closes; it writes down what they do.

`python -m tests.integration.pull_process FOLDER ARENA TOKEN SECRET BATCH THINK_MS BOT_ID=NAME...`; the journals are
those of `bot_process`.
"""

from __future__ import annotations

import logging
import sys
import threading
from pathlib import Path

from bot_sdk.bots import HOUSE
from bot_sdk.connecting import Connection
from tests.integration.bot_process import Journalled
from tests.integration.gate import Gate
from tests.integration.journal import Journal


def main(folder: str, arena: str, token: str, secret: str, batch: str, think_ms: str, *bots: str) -> None:
    asked, answered, told = (Journal(Path(folder) / name) for name in ("asked", "answered", "told"))
    for each in bots:
        bot_id, _, name = each.partition("=")
        bot = HOUSE[name]()
        bot.secret, bot.max_batch = secret, int(batch)
        hosted = Journalled(bot, asked, answered, told, Gate(Path(folder)), float(think_ms) / 1000)
        connection = Connection(arena, token, bot_id, hosted, threads=8, tell=logging.warning)
        threading.Thread(target=connection.run, daemon=True).start()
        assert connection.has_polled.wait(60)
    sys.stdout.write("connected\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
