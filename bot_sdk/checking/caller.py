"""A `Line` over one kept connection, which explains what it saw on it (`Doctor`)."""

from __future__ import annotations

import secrets as random
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Final
from urllib.parse import urljoin, urlsplit, urlunsplit

import msgspec

from bot_sdk import messages, signing
from bot_sdk.checking.faults import Fault, Finding
from bot_sdk.checking.values import Sent
from bot_sdk.checking.wire import TROUBLE, Connection, EndedError, Got, UnreadableError, place_of
from bot_sdk.errors import reason
from bot_sdk.events import Outcome

_HUNG_UP: Final = (
    "it hung up though it answers other requests: see that its code doesn't end the process, and that it reads the "
    "whole body of each request before it answers"
)
_LOST: Final = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED})


def _new_id() -> str:
    return f"msg_{random.token_hex(8)}"


@dataclass(frozen=True, slots=True)
class Heard:
    """What became of a request, as `bot_sdk.check.Sent` promises; `got` is the whole answer, if there was one."""

    outcome: Outcome
    ms: float
    status: int | None = None
    error: str | None = None
    body: bytes | None = None
    got: Got | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it goes out."""

    method: str
    headers: dict[str, str]
    body: bytes
    budget_ms: float
    limit: int = messages.MAX_REPLY_BYTES


class Caller:
    """Asks the bot at a URL, one request at a time; keeps its connection as long as the bot does."""

    def __init__(
        self,
        url: str,
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
        new_id: Callable[[], str] = _new_id,
    ) -> None:
        """Aim at an http or https URL; raises `WireError` for any other."""
        self._kept: Connection | None = None
        self.place = place_of(url)
        self.url = url
        self.clock = clock
        self._now = now
        self._new_id = new_id
        self._latest: tuple[Asked, bool] | None = None
        self._has_answered = False

    def close(self) -> None:
        """Close the connection."""
        if self._kept:
            self._kept.close()
        self._kept = None

    def __del__(self) -> None:
        """Close what nobody closed: players of matches come and go."""
        self.close()

    def get_card(self, budget_ms: int) -> Heard:
        """GET the bot's URL."""
        return self.ask(Asked("GET", {}, b"", budget_ms))

    def post(self, body: bytes, budget_ms: int, secret: str | None, *, decisions: int = 1, age_s: int = 0) -> Heard:
        """POST a message, signed with `secret` if there is one, as if that had been done `age_s` seconds ago."""
        return self.ask(self.request(body, budget_ms, secret, decisions=decisions, age_s=age_s))

    def request(self, body: bytes, budget_ms: int, secret: str | None, *, decisions: int = 1, age_s: int = 0) -> Asked:
        """Make the request of a message."""
        headers = {"Content-Type": "application/json"}
        if secret is not None:
            headers |= signing.sign(self._new_id(), int(self._now()) - age_s, body, [secret])
        limit = messages.MAX_REPLY_BYTES + (messages.MAX_REPLY_BYTES_PER_DECISION * decisions if decisions > 1 else 0)
        return Asked("POST", headers, body, budget_ms, limit)

    def connect(self, timeout_s: float) -> Connection:
        """Open another connection; raises `OSError`."""
        return Connection(self.place, timeout_s, clock=self.clock)

    def look(self, found: Finding, decisions: Sequence[messages.Decision], sent: Sent | None) -> Finding:
        """Say more of a fault, by what came on the connection, or by asking once more in another way."""
        del decisions
        if self._latest is None or not isinstance(sent, Heard) or sent.outcome is Outcome.OK:
            return found
        asked, was_reused = self._latest
        if found.fault is Fault.UNREACHABLE and self._has_answered:
            return Finding(found.fault, found.detail, "the end of the connection", _HUNG_UP)
        if found.fault is Fault.REDIRECT and sent.got:
            return _redirected(found, self.url, sent.got)
        if sent.status in _LOST and asked.method == "GET":
            return self._misplaced(found)
        if found.fault in {Fault.BAD_STATUS, Fault.BAD_REPLY} and was_reused and self._is_well_when_fresh(asked):
            told = f"{found.detail}; on a fresh connection the same request is answered"
            return Finding(Fault.IGNORES_BODY, told, "the body of the request before, left unread on the connection")
        return found

    def ask(self, asked: Asked) -> Heard:
        """Send a request, again on a fresh connection if the kept one has ended."""
        start = self.clock()
        until = start + asked.budget_ms / 1000
        if self._kept and not self._kept.is_open():
            self.close()
        self._latest = asked, self._kept is not None
        heard = self._heard(asked, until)
        ms = 1000 * (self.clock() - start)
        if ms >= asked.budget_ms:
            told = f"no whole answer within {asked.budget_ms:g} ms"
            return Heard(Outcome.LATE, ms, heard.status, told, got=heard.got)
        return replace(heard, ms=ms)

    def _heard(self, asked: Asked, until: float) -> Heard:
        """Ask, and once more on a fresh connection if the kept one ends without an answer."""
        try:
            try:
                return judged(self._exchange(asked, until), asked.limit)
            except EndedError:
                self.close()
                return judged(self._exchange(asked, until), asked.limit)
        except TROUBLE as error:
            self.close()
            return broken(error)

    def _exchange(self, asked: Asked, until: float) -> Got:
        self._kept = self._kept or self.connect(max(until - self.clock(), 0.001))
        got = self._kept.ask(asked.method, asked.headers, asked.body, until, asked.limit)
        self._has_answered = True
        if not got.may_go_on:
            self.close()
        return got

    def _misplaced(self, found: Finding) -> Finding:
        """See whether the card is at the URL with, or without, a slash at its end."""
        parts = urlsplit(self.url)
        path = parts.path[:-1] if parts.path.endswith("/") else f"{parts.path}/"
        other = urlunsplit(parts._replace(path=path))
        with closing(Caller(other, clock=self.clock)) as elsewhere:
            heard = elsewhere.get_card(messages.BUDGET_MS)
        try:
            msgspec.json.decode(heard.body or b"", type=messages.BotCard)
        except (ValueError, RecursionError, msgspec.MsgspecError):
            return found
        return Finding(Fault.REDIRECT, f"{found.detail}: there is a card at {other!r}", "the path of the URL")

    def _is_well_when_fresh(self, asked: Asked) -> bool:
        with closing(Caller(self.url, clock=self.clock, now=self._now)) as fresh:
            return fresh.ask(asked).outcome is Outcome.OK


def _redirected(found: Finding, url: str, got: Got) -> Finding:
    location = got.header("Location")
    if not location:
        return found
    told = f"{found.detail}: it redirects to {location!r:.200}"
    advice = f"redirects aren't followed: give {urljoin(url, location)!r:.200} as the bot's URL"
    return Finding(found.fault, told, "the header Location", advice)


def judged(got: Got, limit: int) -> Heard:
    """Judge an answer by its status, its size and its content type."""
    if got.status != HTTPStatus.OK:
        shown = " ".join(got.body[:400].decode(errors="replace").split())[:120]
        return Heard(Outcome.BAD_STATUS, got.ms, got.status, f"status {got.status}: {shown}", got=got)
    if len(got.body) > limit:
        return Heard(Outcome.BAD_REPLY, got.ms, got.status, f"expected at most {limit} bytes, got more", got=got)
    kind = got.header("Content-Type") or ""
    if kind.partition(";")[0].strip().lower() != "application/json":
        return Heard(Outcome.BAD_REPLY, got.ms, got.status, f"expected application/json, got {kind!r:.80}", got=got)
    return Heard(Outcome.OK, got.ms, got.status, None, got.body, got)


def broken(error: Exception) -> Heard:
    """Name what a network or a bot did to a request: `error` is one of `wire.TROUBLE`."""
    match error:
        case TimeoutError():
            return Heard(Outcome.LATE, 0.0, error="no answer in time")
        case EndedError():
            return Heard(Outcome.UNREACHABLE, 0.0, error="the connection closed before an answer")
        case UnreadableError():
            return Heard(Outcome.BAD_REPLY, 0.0, error=f"expected a whole HTTP answer: {error}")
    return Heard(Outcome.UNREACHABLE, 0.0, error=f"no connection: {reason(error)}")
