"""One request and its outcome: where what networks and strangers do becomes a word of the contract.

It is done in steps and waits for nothing itself: a `Line` drives many side by side, `Exchanges.ask` one.
"""

from __future__ import annotations

import errno
import logging
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from bot_sdk.events import Outcome
from service.outbound.connection import Connection, EndedError, Need, Steps
from service.outbound.deadline import Deadline
from service.outbound.guard import Guard, RefusedError
from service.outbound.http1 import Fault
from service.outbound.message import Request, Site, Sites, message
from service.outbound.pool import Pool, open_connection
from service.outbound.tls import OverheadError
from service.outbound.values import ERROR_SHOWN, HEAD_SHOWN, Answer, OutboundError

log = logging.getLogger(__name__)

OPEN: Final[Need] = 0
"""What a step waits for besides: that `Exchange.open` has been called, which may take until the deadline."""
# How long this process may be kept from running before that is a stall of ours, and says nothing about the bot.
STALL_S = 0.25
# A wait may end so much early, by the rounding of its timeout to milliseconds.
_ROUNDING_S = 0.002
# What this machine has run out of: descriptors, memory. No bot is to blame.
_OUR_ERRORS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})


class ClosingError(OutboundError):
    """The caller is shutting down."""

    def __init__(self) -> None:
        super().__init__("the arena is shutting down")


class Exchanges:
    """What all exchanges of a process share: the guard, the clocks, the trust in certificates, and the end of it all.

    `clock` is monotonic, `now` is Unix time for signatures; `tls` replaces the TLS context of the process.
    """

    def __init__(
        self,
        guard: Guard,
        *,
        clock: Callable[[], float],
        now: Callable[[], float],
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.clock = clock
        self.now = now
        self.sites = Sites(guard)
        self.closing = False
        self._guard = guard
        self._tls = tls
        self._pool = Pool(clock=clock)

    def host(self, url: str) -> str:
        """Name the host of a URL, however it is written; of one that is refused, the URL itself: it costs no wait."""
        try:
            return self.sites.at(url).host
        except RefusedError:
            return url

    def ask(self, request: Request) -> Answer:
        """Ask in the thread that calls, which waits; the budget starts now. Safe to share between threads."""
        exchange = Exchange(self, self._pool, request)
        for need in exchange.steps():
            if need == OPEN:
                exchange.open()
            elif exchange.connection is not None:
                exchange.connection.wait_here(need, exchange.deadline)
        return exchange.answer

    def connect(self, site: Site, deadline: Deadline) -> Connection:
        """Open a connection in the thread that calls, which waits; raises as `open_connection` does."""
        return open_connection(self._guard, site.place, deadline, self._tls)

    def close(self) -> None:
        """End what is asked by `ask` as our fault; from now on everything ends so."""
        self.closing = True
        self._pool.shut_down()


class _Verdict(NamedTuple):
    outcome: Outcome
    error: str | None = None
    status: int | None = None
    head: bytes = b""
    body: bytes | None = None


@dataclass(slots=True)
class _Opened:
    """How opening a connection ended, and when."""

    at: float
    result: Connection | Exception


class Exchange:
    """One request, asked once or twice, over connections of a pool.

    After its `steps` there is an `answer`; nothing is raised for what a bot or a network does. `deadline` is there
    from the first step on, and `connection` whenever a step waits for one. `unattended_s` is for who takes the steps to
    set: how long nobody has looked after this one, though its thread was running.
    """

    __slots__ = (
        "_lag",
        "_opened",
        "_pool",
        "_request",
        "_shared",
        "_site",
        "_unseen_s",
        "_waits_for",
        "answer",
        "connection",
        "deadline",
        "unattended_s",
    )

    answer: Answer
    deadline: Deadline
    _opened: _Opened
    _site: Site

    def __init__(self, shared: Exchanges, pool: Pool, request: Request) -> None:
        self._shared = shared
        self._pool = pool
        self._request = request
        self._waits_for = "a connection"
        self._lag = 0.0  # how late it got to wait at all, which is ours
        self.unattended_s = 0.0
        self._unseen_s = 0.0  # how long the answer had been there when it was read after the deadline
        self.connection: Connection | None = None

    def steps(self) -> Steps[None]:
        """Ask within the budget, which starts with the first step."""
        self.deadline = Deadline(self._request.budget_s, self._shared.clock)
        try:
            verdict = yield from self._ask()
        except Fault as fault:
            verdict = _Verdict(fault.outcome, fault.error, fault.status, fault.head)
        except (RefusedError, EndedError) as error:
            verdict = _ran_out(error) or _Verdict(Outcome.UNREACHABLE, str(error))
        except OSError as error:
            verdict = _ran_out(error) or self._network_failed(error)
        except ClosingError as error:
            verdict = _Verdict(Outcome.OUR_FAULT, str(error))
        except Exception as error:  # what isn't the network's or the bot's doing is ours
            bot_id = self._request.call.endpoint.bot_id if self._request.call is not None else None
            log.exception("a call to %s broke", bot_id or "a bot", extra={"bot_id": bot_id})  # its URL is its owner's
            verdict = _Verdict(Outcome.OUR_FAULT, f"the arena broke: {type(error).__name__}")
        self.answer = self._answered(verdict)

    def open(self) -> None:
        """Open the connection that a step waits for, in the thread that calls; how that ended, the next step sees."""
        result: Connection | Exception
        try:
            result = self._shared.connect(self._site, self.deadline)
        except Exception as error:  # noqa: BLE001  # raised again where all that may happen is judged
            result = error
        self._opened = _Opened(self._shared.clock(), result)

    def forgive_since_open(self, seconds: float) -> None:
        """Let the time that an open connection has waited for the next step be none; one that failed has failed."""
        if isinstance(self._opened.result, Connection):
            self.deadline.forgive(seconds)
            self._opened.at += seconds

    def discard(self) -> None:
        """Close what was opened after the last step: nobody waits for it any more."""
        if isinstance(self._opened.result, Connection):
            self._opened.result.close()

    def _ask(self) -> Steps[_Verdict]:
        shared, request = self._shared, self._request
        self._site = shared.sites.at(request.url)
        data = message(self._site, request.call, shared.now())
        self.deadline.forgive(self.deadline.elapsed)  # writing it is ours
        idle = self._pool.take(request.url)
        self._lag = self.deadline.elapsed
        try:
            return (yield from self._round_trip(data, idle))
        except EndedError:
            return (yield from self._round_trip(data, None))

    def _round_trip(self, data: bytes, idle: Connection | None) -> Steps[_Verdict]:
        if self._shared.closing:
            raise ClosingError
        connection = self.connection = idle or (yield from self._fresh())
        may_go_on = False
        try:
            yield from self._exchange(connection, data, is_kept=idle is not None)
            if self.deadline.remaining < 0:
                self._unseen_s = connection.silent_s()
            reader = connection.reader
            body = reader.body
            may_go_on = reader.may_go_on
            return _Verdict(Outcome.OK, None, reader.status, body[:HEAD_SHOWN], body)
        finally:
            self.connection = None
            if may_go_on:
                self._pool.give_back(self._request.url, connection)
            else:
                self._pool.close(connection)

    def _fresh(self) -> Steps[Connection]:
        self._waits_for = "a connection"
        yield OPEN
        if isinstance(self._opened.result, Exception):
            raise self._opened.result
        self._lag += self._shared.clock() - self._opened.at
        self._pool.add(self._opened.result)
        return self._opened.result

    def _exchange(self, connection: Connection, data: bytes, *, is_kept: bool) -> Steps[None]:
        """Send, and read until the reply is whole; raises `EndedError` if the connection ends before any of it."""
        reader, deadline = connection.reader, self.deadline
        reader.begin(self._request.limit, wants_json=self._request.wants_json)
        try:
            connection.has_waited = False
            yield from connection.send(data, deadline)
            if is_kept and not connection.has_waited:
                self._lag = deadline.elapsed
            self._waits_for = "an answer"
            while received := (yield from connection.receive(deadline)):
                self._waits_for = "the rest of the answer"
                if reader.feed(received):
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

    def _network_failed(self, error: OSError) -> _Verdict:
        """Tell the end of the budget from a network that failed before it.

        The type of the error can't: a resolver's timeout comes as a `gaierror`, the kernel's giving up on a peer
        as the same `TimeoutError` as the end of a wait.
        """
        if self.deadline.remaining > _ROUNDING_S:
            return _Verdict(Outcome.UNREACHABLE, str(error))
        return _Verdict(Outcome.LATE, f"waited {self._request.budget_s * 1000:g} ms for {self._waits_for}")

    def _answered(self, verdict: _Verdict) -> Answer:
        request, elapsed, is_unattended = self._request, self._elapsed(), False
        if verdict.outcome is not Outcome.OK and self._shared.closing:
            verdict = _Verdict(Outcome.OUR_FAULT, "the arena is shutting down")
        elif self._is_stall(verdict.outcome, elapsed):
            is_unattended = not self._is_stall(verdict.outcome, elapsed - self.unattended_s)
            verdict = _Verdict(Outcome.OUR_FAULT, "the arena stalled", verdict.status)
        outcome, error, status, head, body = verdict
        error = error and error[:ERROR_SHOWN]
        return Answer(request.key, outcome, elapsed * 1000, error, status, head, body, is_unattended)

    def _elapsed(self) -> float:
        """Tell how long the answer took: until it came, if it did in time and this process only read it after that."""
        elapsed = self.deadline.elapsed
        came = elapsed - self._unseen_s
        return came if came <= self._request.budget_s else elapsed

    def _is_stall(self, outcome: Outcome, elapsed: float) -> bool:
        """Whether this process, not the bot, ate the time.

        All waits end by the deadline, so nothing a bot does makes a call end long after it. And a bot can't be
        late if it was asked late: before the first wait no byte of a stranger has been looked at, and between the end
        of the opening of a connection and the request on it neither, so that lag is ours alone.
        """
        budget_s = self._request.budget_s
        return elapsed - budget_s > STALL_S or (outcome is Outcome.LATE and self._lag > min(STALL_S, budget_s / 4))


def _ran_out(error: BaseException) -> _Verdict | None:
    """Tell whether it was this machine that ran out, which may stand behind what the guard or a resolver made of it."""
    found: BaseException | None = error
    while found is not None:
        if isinstance(found, OSError) and found.errno in _OUR_ERRORS:
            return _Verdict(Outcome.OUR_FAULT, f"the arena has run out of something: {found}")
        found = found.__cause__ or found.__context__
    return None
