"""One request and its outcome: where what networks and strangers do becomes a word of the contract."""

from __future__ import annotations

import functools
import logging
import ssl
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import NamedTuple

from bot_sdk.events import Outcome
from bot_sdk.messages import MAX_REPLY_BYTES
from bot_sdk.signing import sign
from service.outbound.connection import Connection, EndedError
from service.outbound.deadline import Deadline
from service.outbound.guard import Guard, RefusedError
from service.outbound.http1 import Fault
from service.outbound.pool import Pool, open_connection
from service.outbound.tls import OverheadError
from service.outbound.values import ERROR_SHOWN, HEAD_SHOWN, Answer, Call, OutboundError

log = logging.getLogger(__name__)

# How long a thread may be kept from running before that is a stall of ours, and says nothing about the bot.
STALL_S = 0.25
# A wait may end so much early, by the rounding of its timeout to milliseconds.
_ROUNDING_S = 0.002


class ClosingError(OutboundError):
    """The caller is shutting down."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent, how long it may take, and what will do as an answer."""

    key: Hashable
    url: str
    budget_s: float
    verb: str = "POST"
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    limit: int = MAX_REPLY_BYTES
    wants_json: bool = True


@dataclass(slots=True)
class _Progress:
    """How far a request came: what it waits for, and how late it got to wait at all, which is ours.

    A connection that was kept isn't waited for before the request is sent.
    """

    deadline: Deadline
    waits_for: str = "a connection"
    lag: float = 0.0


class _Verdict(NamedTuple):
    outcome: Outcome
    error: str | None = None
    status: int | None = None
    head: bytes = b""
    body: bytes | None = None


class Exchanges:
    """Asks bots, one request at a time in the thread that calls; safe to share between threads.

    `clock` is monotonic, `now` is Unix time for signatures; `tls` replaces the TLS context of the process.
    Nothing is raised for what a bot or a network does: it is in the answer.
    """

    def __init__(
        self,
        guard: Guard,
        *,
        clock: Callable[[], float],
        now: Callable[[], float],
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._guard = guard
        self._clock = clock
        self._now = now
        self._tls = tls
        self._pool = Pool(clock=clock)
        self._place = functools.lru_cache(maxsize=4096)(guard.check)
        self._closing = False

    def host(self, url: str) -> str:
        """Name the host of a URL, however it is written; of one that is refused, the URL itself: it costs no wait."""
        try:
            return self._place(url).host
        except RefusedError:
            return url

    def post(self, call: Call, *, wants_json: bool = True) -> Answer:
        """POST a call, signed if its endpoint has secrets; if no JSON is wanted, any 2xx will do, unread."""
        secrets = call.endpoint.secrets
        headers = sign(call.webhook_id, int(self._now()), call.body, secrets) if secrets else {}
        return self.run(
            Request(
                key=call.key,
                url=call.endpoint.url,
                budget_s=call.budget_ms / 1000,
                headers=headers,
                body=call.body,
                limit=call.reply_limit,
                wants_json=wants_json,
            )
        )

    def run(self, request: Request) -> Answer:
        """Ask within the budget, which starts now."""
        progress = _Progress(Deadline(request.budget_s, self._clock))
        try:
            verdict = self._ask(request, progress)
        except Fault as fault:
            verdict = _Verdict(fault.outcome, fault.error, fault.status, fault.head)
        except (RefusedError, EndedError) as error:
            verdict = _Verdict(Outcome.UNREACHABLE, str(error))
        except OSError as error:
            verdict = _network_failed(request, progress, error)
        except ClosingError as error:
            verdict = _Verdict(Outcome.OUR_FAULT, str(error))
        except Exception as error:  # what isn't the network's or the bot's doing is ours
            log.exception("a call to %s broke", request.url)
            verdict = _Verdict(Outcome.OUR_FAULT, f"the arena broke: {type(error).__name__}")
        elapsed = progress.deadline.elapsed
        if self._closing and verdict.outcome is not Outcome.OK:
            verdict = _Verdict(Outcome.OUR_FAULT, "the arena is shutting down")
        elif _is_stall(verdict.outcome, progress, elapsed - request.budget_s, request.budget_s):
            verdict = _Verdict(Outcome.OUR_FAULT, "the arena stalled", verdict.status)
        return Answer(
            request.key,
            verdict.outcome,
            elapsed * 1000,
            verdict.error and verdict.error[:ERROR_SHOWN],
            verdict.status,
            verdict.head,
            verdict.body,
        )

    def close(self) -> None:
        """Close all connections; what is under way ends as our fault."""
        self._closing = True
        self._pool.shut_down()

    def _ask(self, request: Request, progress: _Progress) -> _Verdict:
        message = self._message(request)
        idle = self._pool.take(request.url)
        progress.lag = progress.deadline.elapsed
        try:
            return self._round_trip(request, message, progress, idle)
        except EndedError:
            return self._round_trip(request, message, progress, None)

    def _round_trip(
        self, request: Request, message: bytes, progress: _Progress, connection: Connection | None
    ) -> _Verdict:
        if self._closing:
            raise ClosingError("the arena is shutting down")
        is_kept = connection is not None
        if connection is None:
            progress.waits_for = "a connection"
            connection = open_connection(self._guard, self._place(request.url), progress.deadline, self._tls)
            self._pool.add(connection)
        may_go_on = False
        try:
            _exchange(connection, request, message, progress, is_kept=is_kept)
            reader = connection.reader
            body = reader.body
            may_go_on = reader.may_go_on
            return _Verdict(Outcome.OK, None, reader.status, body[:HEAD_SHOWN], body)
        finally:
            if may_go_on:
                self._pool.give_back(request.url, connection)
            else:
                self._pool.close(connection)

    def _message(self, request: Request) -> bytes:
        place = self._place(request.url)
        lines = [
            f"{request.verb} {place.path} HTTP/1.1",
            f"host: {place.host_header}",
            "user-agent: slagveld/1",
            "accept: application/json",
            "accept-encoding: identity",
        ]
        if request.verb == "POST":
            lines += ["content-type: application/json", f"content-length: {len(request.body)}"]
        lines += [f"{name}: {value}" for name, value in request.headers.items()]
        return "\r\n".join([*lines, "", ""]).encode("ascii") + request.body


def _exchange(connection: Connection, request: Request, message: bytes, progress: _Progress, *, is_kept: bool) -> None:
    """Send, and read until the reply is whole; raises `EndedError` if the connection ends before any of it."""
    reader = connection.reader
    reader.begin(request.limit, wants_json=request.wants_json)
    try:
        connection.has_waited = False
        connection.send(message, progress.deadline)
        if is_kept and not connection.has_waited:
            progress.lag = progress.deadline.elapsed
        progress.waits_for = "an answer"
        while data := connection.receive(progress.deadline):
            progress.waits_for = "the rest of the answer"
            if reader.feed(data):
                return
    except OverheadError as error:
        raise Fault(Outcome.BAD_REPLY, str(error), reader.status) from error
    except (ConnectionError, ssl.SSLError) as error:
        if not reader.has_begun:
            raise EndedError(f"the connection broke before an answer: {error}") from error
        raise Fault(Outcome.BAD_REPLY, f"the connection broke within the answer: {error}", reader.status) from error
    if not reader.has_begun:
        raise EndedError("the connection closed before an answer")
    reader.end()


def _network_failed(request: Request, progress: _Progress, error: OSError) -> _Verdict:
    """Tell the end of the budget from a network that failed before it.

    The type of the error can't: a resolver's timeout comes as a `gaierror`, the kernel's giving up on a peer
    as the same `TimeoutError` as the end of a wait.
    """
    if progress.deadline.overrun < -_ROUNDING_S:
        return _Verdict(Outcome.UNREACHABLE, str(error))
    return _Verdict(Outcome.LATE, f"waited {request.budget_s * 1000:g} ms for {progress.waits_for}")


def _is_stall(outcome: Outcome, progress: _Progress, overrun: float, budget_s: float) -> bool:
    """Whether this process, not the bot, ate the time.

    All waits end by the deadline, so nothing a bot does makes a call end long after it. And a bot can't be
    late if it was asked late: before the first wait no byte of a stranger has been looked at, so that lag is
    ours alone.
    """
    return overrun > STALL_S or (outcome is Outcome.LATE and progress.lag > min(STALL_S, budget_s / 4))
