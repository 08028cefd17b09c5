"""Calls to bots: the door of this package."""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable
from weakref import WeakSet

from bot_sdk.events import Outcome
from service.outbound.exchange import Exchanges
from service.outbound.guard import Guard
from service.outbound.line import Flight, Line
from service.outbound.mail import Mail
from service.outbound.message import Request, request_of
from service.outbound.news import News
from service.outbound.office import Office
from service.outbound.openers import Openers
from service.outbound.shares import Shares
from service.outbound.values import Answer, Call


class Calls:
    """Asks bots: many at once on a `line`, or one in the thread that calls.

    All lines share `slots`. A bot gets at most `most_per_bot` of them, half by default, and all bots of one host (a
    name, an IPv4 address or an IPv6 /64) `most_per_host`, three quarters; the `openers`, threads that open connections,
    are shared out by the same rule. A call's budget starts when it gets its slot: waiting for one costs the bot
    nothing. `clock` is monotonic, `now` is Unix time. Bots that fetch their calls find them at the `office`; without
    one they can't be reached.
    """

    def __init__(
        self,
        guard: Guard,
        *,
        slots: int = 512,
        most_per_host: int | None = None,
        most_per_bot: int | None = None,
        openers: int = 32,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
        tls: ssl.SSLContext | None = None,
        office: Office | None = None,
    ) -> None:
        self._clock = clock
        self._mail = None if office is None else Mail(office, clock=clock, now=now)
        self._exchanges = Exchanges(guard, clock=clock, now=now, tls=tls)
        self._slots: Shares[Flight] = Shares(slots, per_host=most_per_host, per_bot=most_per_bot)
        self._openers = Openers("bot-opener", threads=openers)
        self._lines: WeakSet[Line] = WeakSet()
        self._news = News(self._exchanges, self._mail)

    def line(self) -> Line:
        """Open a line for one thread that asks many bots at once."""
        line = Line(self._exchanges, self._slots, self._openers, self._mail)
        self._lines.add(line)
        return line

    @property
    def waiting(self) -> int:
        """How many calls wait for a slot."""
        return self._slots.waiting

    def ask(self, call: Call) -> Answer:
        """Ask a bot in the thread that calls, and wait for the answer at most the call's budget; it takes no slot."""
        request = request_of(call)
        if self._mail is not None and request.is_pull:
            return self._mail.ask(request)
        return self._exchanges.ask(request)

    def get_card(self, url: str, budget_ms: float) -> Answer:
        """GET what a URL answers as its bot card, in the thread that calls; the answer's key is the URL."""
        return self._exchanges.ask(Request(key=url, url=url, budget_s=budget_ms / 1000))

    def get_posted_card(self, bot_id: str) -> Answer:
        """Give the bot card that a bot which fetches its calls has sent, as if it had been asked; the key is its id."""
        if self._mail is None:
            return Answer(bot_id, Outcome.UNREACHABLE, 0.0, "bots that fetch their calls aren't reached from here")
        return self._mail.get_card(bot_id)

    def notify(self, call: Call) -> None:
        """Tell a bot something that nothing waits for.

        Any 2xx will do, its body isn't read; failures are logged and dropped.
        """
        self._news.tell(call)

    def close(self, timeout_s: float = 5.0) -> None:
        """Stop within about `timeout_s`: what waits or is under way ends as our fault, the threads end."""
        self._exchanges.close()
        for line in list(self._lines):
            line.ring()
        ends = self._clock() + timeout_s
        if self._mail is not None:
            self._mail.close(timeout_s)
        for part in (self._openers, self._news):
            part.close(max(0.0, ends - self._clock()))
