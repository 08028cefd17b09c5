"""Bots in files that misbehave at one place, and what games are but for the times that they took."""

from __future__ import annotations

from socket import create_server

import msgspec

FILE = """
import os, re, signal, socket, sys, time
from bot_sdk.bot import Bot
from bot_sdk.games.registry import RULESETS

bot = Bot({name!r})

def decide(decision):
    if {where}:
        {what}
    return decision.legal[-1]

for ruleset in RULESETS:
    bot.on(ruleset)(decide)
"""


def bot_file(folder, what="pass", where="True", name="made"):
    """Write a bot that does `what` where `where` holds of a decision, and gives the last legal action; name it."""
    file = folder / f"{name}.py"
    file.write_text(FILE.format(name=name, where=where, what=what))
    return f"{file}:bot"


def untimed(record):
    """Give a record without the times, which are never twice the same."""
    shown = msgspec.to_builtins(record)
    for deal in shown["deals"]:
        for event in deal["events"]:
            event.pop("ms", None)
    return shown


class Line:
    """A socket that a bot connects to: it tells when a bot's process lives, and when it has ended."""

    def __init__(self):
        self.server = create_server(("127.0.0.1", 0))
        self.server.settimeout(60)
        port = self.server.getsockname()[1]
        self.call = f"bot.line = socket.create_connection(('127.0.0.1', {port}))"
        """What a bot does to connect."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.close()

    def wait_for_call(self):
        line, _ = self.server.accept()
        line.settimeout(60)
        return line
