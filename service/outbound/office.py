"""Where the mailboxes are of bots that fetch their calls, as this package needs them, and what is put into one."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Final, NamedTuple, Protocol, TypeAlias

import msgspec

from service.outbound.message import signature
from service.outbound.values import Call

Name: TypeAlias = tuple[str, str]
"""Whose call, and its webhook-id."""


CLOSED: Final = -1
"""In the place of what became of a call: the bot may have been kept from it, since nobody answered polls."""


class Posted(NamedTuple):
    """A call as it is put: whose, its webhook-id, what the bot is given, and how many milliseconds it has."""

    bot_id: str
    call_id: str
    parcel: bytes
    budget_ms: int


class Heard(Protocol):
    """An answer that a bot gave at `at_us`, a clock of the mailboxes' own."""

    @property
    def bot_id(self) -> str:
        """Who answered."""

    @property
    def call_id(self) -> str:
        """Which call."""

    @property
    def status(self) -> int:
        """What would be the status of an HTTP answer."""

    @property
    def body(self) -> bytes:
        """Its body."""

    @property
    def at_us(self) -> int:
        """When it came."""


class Office(Protocol):
    """Where mailboxes are; two threads use it. What it raises while they are away passes, so all is tried again."""

    def put(self, letters: Sequence[Posted]) -> list[int | None]:
        """Put calls; give for each when it was there (µs), None if its bot is gone, `CLOSED` if it couldn't poll."""

    def withdraw(self, letters: Sequence[tuple[str, str, int]]) -> list[bool | int | None]:
        """Take calls back, each by its name and when it was there: whether it had been fetched.

        `CLOSED` if polls weren't answered for a while since then; None for one that is answered, or lost.
        """

    def recall(self, names: Sequence[Name]) -> list[bool]:
        """Take back those of these calls that weren't fetched and whose bots have gone; tell which these are."""

    def hear(self, wait_ms: int) -> Sequence[Heard]:
        """Wait for answers; the same may come twice."""

    def card(self, bot_id: str) -> tuple[bytes | None, bool]:
        """Give the card that a bot has sent, and whether the bot is there."""


class Parcel(msgspec.Struct, frozen=True):
    """What a bot is given: the request that it would have got by HTTP, and the name to answer it by."""

    id: str
    headers: dict[str, str]
    body: str


def written(call: Call, now: float) -> Posted:
    """Write a call as it is put, signed at `now` (Unix time)."""
    parcel = Parcel(call.webhook_id, signature(call, now), call.body.decode())
    return Posted(call.endpoint.bot_id, call.webhook_id, msgspec.json.encode(parcel), ceil(call.budget_ms))
