"""A request in the mail, and what became of it: the same words as by HTTP."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Final, NamedTuple, TypeAlias

from bot_sdk.events import Outcome
from bot_sdk.messages import MAX_REPLY_BYTES
from service.outbound.message import Request
from service.outbound.office import Heard, Name
from service.outbound.values import ERROR_SHOWN, HEAD_SHOWN, Answer, Call

Deliver: TypeAlias = Callable[[Answer], None]


class Letter:
    """A request in the mail, `since` then.

    Its time begins at `started`, once it has been put; before that, `sent` is when it was last tried. `put_us` is the
    start by the mailboxes' clock. One that `is_lost` is in nobody's hands and not answered.
    """

    __slots__ = (
        "call",
        "deliver",
        "is_lost",
        "is_over",
        "name",
        "put_us",
        "request",
        "sent",
        "since",
        "started",
        "timer",
    )

    def __init__(self, request: Request, call: Call, deliver: Deliver, since: float) -> None:
        self.request = request
        self.call = call
        self.name: Name = (call.endpoint.bot_id, call.webhook_id)
        self.deliver = deliver
        self.since = since
        self.sent = 0.0
        self.started: float | None = None
        self.put_us = 0
        self.timer = 0
        self.is_over = False
        self.is_lost = False


class Verdict(NamedTuple):
    """How a call ended: an answer without its key and time. `elapsed_s` is there if we know better than by now."""

    outcome: Outcome
    error: str | None = None
    status: int | None = None
    head: bytes = b""
    body: bytes | None = None
    elapsed_s: float | None = None
    is_unattended: bool = False

    def answer(self, key: Hashable, waited_s: float) -> Answer:
        """Make the answer to a call that was waited for so long."""
        ms = 1000 * (waited_s if self.elapsed_s is None else self.elapsed_s)
        error = self.error and self.error[:ERROR_SHOWN]
        return Answer(key, self.outcome, ms, error, self.status, self.head, self.body, self.is_unattended)


CLOSING: Final = Verdict(Outcome.OUR_FAULT, "the arena is shutting down")
GONE: Final = Verdict(Outcome.UNREACHABLE, "the bot doesn't poll: it isn't connected")
NO_CARD: Final = Verdict(Outcome.UNREACHABLE, "the bot has sent no card: it does that at each connect")
# These say nothing about asking again: no game could else outlast a store that stalls.
AWAY: Final = Verdict(Outcome.OUR_FAULT, "the mailboxes are away", is_unattended=True)
LOST: Final = Verdict(Outcome.OUR_FAULT, "an answer was lost", is_unattended=True)
UNHEARD: Final = Verdict(Outcome.OUR_FAULT, "nobody answered the bot's polls", is_unattended=True)
STALLED: Final = Verdict(Outcome.OUR_FAULT, "the arena stalled", is_unattended=True)


def judged(request: Request, heard: Heard, elapsed_s: float) -> Verdict:
    """Judge an answer that took so long; nobody has read its body yet."""
    status, body = heard.status, heard.body
    head = body[:HEAD_SHOWN]
    said, most = ("200", 200) if request.wants_json else ("2xx", 299)
    if elapsed_s > request.budget_s:
        return Verdict(Outcome.LATE, waited_for(request, "an answer"), status, head, None, elapsed_s)
    if not 200 <= status <= most:
        return Verdict(Outcome.BAD_STATUS, f"expected {said}, got {status}", status, head, None, elapsed_s)
    if len(body) > request.limit:
        return Verdict(Outcome.BAD_REPLY, _too_long(request.limit), status, head, None, elapsed_s)
    return Verdict(Outcome.OK, None, status, head, body, elapsed_s)


def carded(card: bytes) -> Verdict:
    """Judge a card that a bot has sent; nobody has read it yet."""
    if len(card) > MAX_REPLY_BYTES:
        return Verdict(Outcome.BAD_REPLY, _too_long(MAX_REPLY_BYTES), 200, card[:HEAD_SHOWN])
    return Verdict(Outcome.OK, None, 200, card[:HEAD_SHOWN], card)


def waited_for(request: Request, what: str) -> str:
    """Say what a call has waited for in vain."""
    return f"waited {request.budget_s * 1000:g} ms for {what}"


def _too_long(most: int) -> str:
    return f"expected at most {most} bytes"
