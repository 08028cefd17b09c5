"""A bot that costs next to nothing: it plays the first legal action. ``python -m benchmarks.trivial_bot`` announces it.

Every path is a bot of its own, takes batches, and answers kaggle's connectx as well; a path that begins with ``/late``
never answers a decision. It checks no signature: what is measured is whoever asks. GET of ``/-/asked`` tells how many
decisions each path was asked for and in how many requests, ``/-/record`` begins to keep the bodies that ask for a
single decision, ``/-/recorded`` gives them, a line each, and stops that.
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from typing import Any

import msgspec

LATE = "/late"
_END_OF_HEAD = b"\r\n\r\n"


class Asked(msgspec.Struct):
    """What is read of one decision."""

    decision_id: str
    legal_actions: list[str]


class Board(msgspec.Struct):
    """What is read of kaggle's observation: the cells, row by row from the top, 0 where there is room."""

    board: list[int]


class State(msgspec.Struct):
    """What is read of kaggle's state."""

    observation: Board


class Message(msgspec.Struct):
    """What is read of any message; a batch has `decisions`, and the `state` of kaggle's is no word."""

    type: str = ""
    decision_id: str = ""
    legal_actions: list[str] = []
    decisions: list[Asked] = []
    state: State | str = ""


class Bots:
    """All paths: what they answer, and what they were asked."""

    def __init__(self) -> None:
        """Begin with nothing asked."""
        self.requests: Counter[str] = Counter()
        self.decisions: Counter[str] = Counter()
        self._recorded: list[bytes] | None = None
        self._decode = msgspec.json.Decoder(Message).decode
        self._encode = msgspec.json.Encoder().encode

    def get(self, path: str) -> bytes:
        """Answer GET."""
        match path:
            case "/-/record":
                self._recorded = []
            case "/-/recorded":
                recorded, self._recorded = self._recorded or [], None
                return b"\n".join(recorded)
        return self._encode({"requests": self.requests, "decisions": self.decisions})

    def post(self, path: str, body: bytes) -> bytes | None:
        """Answer POST, None for no answer at all."""
        message = self._decode(body)
        if isinstance(message.state, State):
            return self._encode({"action": message.state.observation.board.index(0)})
        if message.type not in {"decision", "decisions"}:
            return b"{}"
        self.requests[path] += 1
        self.decisions[path] += len(message.decisions) or 1
        if path.startswith(LATE):
            return None
        if message.decisions:
            return self._encode(
                {"actions": [_answer(each.decision_id, each.legal_actions) for each in message.decisions]}
            )
        if self._recorded is not None:
            self._recorded.append(body)
        return self._encode(_answer(message.decision_id, message.legal_actions))


def _answer(decision_id: str, legal_actions: list[str]) -> dict[str, str]:
    return {"decision_id": decision_id, "action": legal_actions[0]}


class Connection(asyncio.Protocol):
    """One connection, kept open; requests have a Content-Length, as ours and `requests`' have."""

    def __init__(self, bots: Bots) -> None:
        """Begin with nothing heard."""
        self._bots = bots
        self._heard = b""

    def connection_made(self, transport: Any) -> None:
        """Keep what to answer on."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer all requests that are complete."""
        self._heard += data
        while (ends := self._heard.find(_END_OF_HEAD)) >= 0:
            head, at = self._heard[:ends], ends + len(_END_OF_HEAD)
            length = _length(head)
            if len(self._heard) < at + length:
                return
            body, self._heard = self._heard[at : at + length], self._heard[at + length :]
            self._reply(head, body)

    def _reply(self, head: bytes, body: bytes) -> None:
        method, path, _ = head.decode("latin-1").split(" ", 2)
        reply = self._bots.post(path, body) if method == "POST" else self._bots.get(path)
        if reply is not None:
            self._transport.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"
                % (len(reply), reply)
            )


def _length(head: bytes) -> int:
    _, name, rest = head.lower().partition(b"content-length:")
    return int(rest.partition(b"\r\n")[0]) if name else 0


async def main() -> None:
    """Announce where it listens, and serve until it is killed."""
    bots = Bots()
    server = await asyncio.get_running_loop().create_server(lambda: Connection(bots), "127.0.0.1", 0, backlog=512)
    host, port = server.sockets[0].getsockname()
    sys.stdout.write(f'{{"url": "http://{host}:{port}"}}\n')
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
