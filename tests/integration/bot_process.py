"""A process that hosts house bots over HTTP until its stdin closes, and writes down what they are asked and told.

`python -m tests.integration.bot_process FOLDER SECRET BATCH THINK_MS NAME...` prints one URL a line, in the order of
the names; `NAME@ADDRESS` is served at that address. In the folder, `asked` has the decisions, `answered` what was said
to each (`<decision id>=<action>`), and `told` the games of whose end a bot was told. `held` holds answers back
(gate.py).
"""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

from bot_sdk import messages
from bot_sdk.bot import Bot
from bot_sdk.bots import HOUSE
from bot_sdk.hosting import Server
from tests.integration.gate import Gate
from tests.integration.journal import Journal


class Journalled:
    """A bot as it is, but for a line in a journal before each answer, and a time that it takes at least."""

    def __init__(self, bot: Bot, asked: Journal, answered: Journal, told: Journal, gate: Gate, think_s: float) -> None:
        self._bot = bot
        self._think_s = think_s
        self._gate = gate
        self._asked = asked
        self._answered = answered
        self._told = told
        self.secret = bot.secret
        self.card = bot.card
        self.game_started = bot.game_started

    def game_ended(self, message: messages.GameEnded) -> None:
        self._told.write(message.game.id)
        self._bot.game_ended(message)

    def answer(self, message: messages.Decision) -> messages.ActionReply:
        self._asked.write(message.decision_id)
        self._gate.wait(self._asked.count())
        time.sleep(self._think_s)
        reply = self._bot.answer(message)
        self._answered.write(f"{message.decision_id}={reply.action}")
        return reply


def main(folder: str, secret: str, batch: str, think_ms: str, *names: str) -> None:
    asked, answered, told = (Journal(Path(folder) / name) for name in ("asked", "answered", "told"))
    gate = Gate(Path(folder))
    for each in names:
        name, _, address = each.partition("@")
        bot = HOUSE[name]()
        bot.secret, bot.max_batch = secret, int(batch)
        journalled = Journalled(bot, asked, answered, told, gate, float(think_ms) / 1000)
        server = Server(journalled, address or "127.0.0.1")
        threading.Thread(target=server.serve_forever, daemon=True).start()
        sys.stdout.write(f"{server.url}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
