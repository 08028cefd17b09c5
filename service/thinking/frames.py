"""What goes through the pipes between a worker and a process that thinks: bytes, their length before them."""

from __future__ import annotations

from typing import BinaryIO, Final

from msgspec import Raw, Struct

HEAD: Final = 4
"""Bytes that hold the length of what follows."""


class Question(Struct, frozen=True):
    """A decision for a house bot, as JSON; `key` goes into what it draws, `longest_s` is all the time it may take."""

    bot_id: str
    key: str
    longest_s: float
    decision: Raw


class Thought(Struct, frozen=True):
    """What the bot replied, as JSON; if it broke, there is none, and `error` says why."""

    reply: str | None
    error: str = ""


def framed(body: bytes) -> bytes:
    """Put its length before a body."""
    return len(body).to_bytes(HEAD, "big") + body


def read(pipe: BinaryIO) -> bytes | None:
    """Read the next body; None if there is none any more."""
    head = pipe.read(HEAD)
    if len(head) < HEAD:
        return None
    length = int.from_bytes(head, "big")
    body = pipe.read(length)
    return body if len(body) == length else None
