"""Bots that misbehave in one way each, and write down what they are told."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bot_sdk.events import Outcome
from tests.service.outbound.hostile import HostileServer, Request, reply

Message = dict[str, Any]
Misbehave = Callable[["HostileBot", socket.socket, Message], bool | None]


class HostileBot:
    """Serves one misbehaviour: every decision is answered by it, and all other messages well."""

    def __init__(self, misbehave: Misbehave) -> None:
        self._misbehave = misbehave
        self.decisions: list[Message] = []
        self.webhook_ids: list[str] = []
        self.news: list[Message] = []
        self.server = HostileServer(self._behave)
        self.url = self.server.url

    def _behave(self, connection: socket.socket, request: Request) -> bool | None:
        message = json.loads(request.body)
        if message["type"] not in {"decision", "decisions"}:
            self.news.append(message)
            connection.sendall(reply(b"{}"))
            return True
        self.decisions.append(message)
        self.webhook_ids.append(request.headers["webhook-id"])
        return self._misbehave(self, connection, message)

    def ended(self, game_id: str) -> Message | None:
        """Give what it was told of the end of a game."""
        told = [each for each in self.news if each["type"] == "game_ended" and each["game"]["id"] == game_id]
        return told[0] if told else None

    def close(self) -> None:
        self.server.close()


@dataclass(frozen=True)
class Kind:
    """A way to misbehave, and what the arena calls it; `error` is part of what its owner is told.

    `good` decisions are answered well before it begins. `asks` is how often the bot sees each bad one.
    """

    misbehave: Misbehave
    outcome: Outcome
    error: str
    status: int | None = None
    head: str = ""
    good: int = 0
    asks: int = 1


def answer(message: Message, action: str | None = None) -> bytes:
    action = message["legal_actions"][-1] if action is None else action
    return json.dumps({"decision_id": message["decision_id"], "action": action}).encode()


def says(make: Callable[[Message], bytes]) -> Misbehave:
    """Answer with whatever `make` makes of the message."""

    def misbehave(_bot: HostileBot, connection: socket.socket, message: Message) -> bool:
        connection.sendall(make(message))
        return True

    return misbehave


def _silent(bot: HostileBot, _connection: socket.socket, _message: Message) -> None:
    bot.server.stopping.wait(30)


def _dripping(bot: HostileBot, connection: socket.socket, message: Message) -> None:
    bot.server.drip(connection, reply(answer(message)), 1.0)


def _closing(_bot: HostileBot, _connection: socket.socket, _message: Message) -> None:
    """Hang up without a word."""


GOOD_BEFORE_DEATH = 2


def _mortal(bot: HostileBot, connection: socket.socket, message: Message) -> bool:
    if len(bot.decisions) > GOOD_BEFORE_DEATH:
        bot.server.die()
        return False
    connection.sendall(reply(answer(message)))
    return True


def _nan(message: Message) -> bytes:
    return b'{"decision_id":"%s","action":NaN}' % message["decision_id"].encode()


def _another(message: Message) -> bytes:
    return answer(message | {"decision_id": "gam_other.0.0"})


ERROR = reply(b'{"error":"oh"}', status="500 Internal Server Error")
HTML = reply(b"<html>hello</html>", kind="text/html")

KINDS = {
    "silent": Kind(_silent, Outcome.LATE, "waited 300 ms for an answer"),
    "dripping": Kind(_dripping, Outcome.LATE, "waited 300 ms for the rest of the answer"),
    "error 500": Kind(says(lambda _: ERROR), Outcome.BAD_STATUS, "500", 500, '{"error":"oh"}'),
    "html": Kind(says(lambda _: HTML), Outcome.BAD_REPLY, "text/html", 200, "<html>hello</html>"),
    "illegal": Kind(says(lambda m: reply(answer(m, "fold"))), Outcome.ILLEGAL, "got 'fold'", 200, '{"decision_id":'),
    "nan": Kind(says(lambda m: reply(_nan(m))), Outcome.BAD_REPLY, "JSON", 200, '{"decision_id":'),
    "list": Kind(says(lambda m: reply(b"[%s]" % answer(m))), Outcome.BAD_REPLY, "got a list", 200, "["),
    "other id": Kind(says(lambda m: reply(_another(m))), Outcome.BAD_REPLY, "gam_other", 200, '{"decision_id":'),
    "closing": Kind(_closing, Outcome.UNREACHABLE, "closed before an answer", asks=2),
    "dead later": Kind(_mortal, Outcome.UNREACHABLE, "refused", good=GOOD_BEFORE_DEATH, asks=0),
}
