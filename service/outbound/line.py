"""The loop in which one thread asks many bots at once: no call in flight costs a thread."""

from __future__ import annotations

import selectors
import socket
import threading
from collections import deque
from contextlib import suppress
from typing import Final

from service.outbound.connection import WRITE, Connection, Need, Steps
from service.outbound.exchange import OPEN, ClosingError, Exchange, Exchanges
from service.outbound.mail import Mail
from service.outbound.message import Request, request_of
from service.outbound.openers import Openers
from service.outbound.pool import Pool
from service.outbound.shares import Shares
from service.outbound.timers import Timers
from service.outbound.values import Answer, Call

_DONE: Final[Need] = -1


class Flight:
    """A request on a line: first it waits for its slot, then its steps are taken as they can be."""

    __slots__ = (
        "blocked_at_s",
        "bot",
        "connection",
        "exchange",
        "handed_over_at",
        "host",
        "is_over",
        "line",
        "steps",
        "timer",
        "unattended_at_s",
    )

    def __init__(self, line: Line, host: str, bot: str, exchange: Exchange) -> None:
        self.line = line
        self.host = host
        self.bot = bot
        self.exchange = exchange
        self.steps: Steps[None] = exchange.steps()
        self.connection: Connection | None = None  # the one it is watched on
        self.timer = 0
        self.is_over = False
        self.handed_over_at = 0.0  # when its connection was open
        self.unattended_at_s = 0.0  # how long the line had been unattended when it began
        self.blocked_at_s: float | None = None  # and when it came to wait until it can send on


class Line:
    """Asks bots from one thread, the only one to use it, but for `wake`.

    Its connections stay open between calls and are watched all the time, so that one which ends or speaks while it
    idles is closed before it is used. `slots` are shared with other lines, `openers` open connections. What bots fetch
    by themselves goes by `mail`, needs no slot, and is answered here as well.
    """

    def __init__(self, exchanges: Exchanges, slots: Shares[Flight], openers: Openers, mail: Mail | None = None) -> None:
        self._exchanges = exchanges
        self._mail = mail
        self._clock = exchanges.clock
        self._slots = slots
        self._openers = openers
        self._selector = selectors.DefaultSelector()
        self._pool = Pool(clock=self._clock, close_connection=self._close_connection)
        self._timers: Timers[Flight] = Timers()
        self._by_connection: dict[Connection, Flight] = {}
        self._under_way: set[Flight] = set()
        self._answers: list[Answer] = []
        self._ready: deque[Flight] = deque()  # those that have got their slot
        self._opened: deque[Flight] = deque()
        self._delivered: deque[Answer] = deque()  # by mail
        self._unattended_s = 0.0  # how long, all in all, nobody waited
        self._left_at = self._clock()
        self._is_woken = False
        self._is_closed = False
        self._handing_over = threading.Lock()  # so that nothing is handed to a line that is closed
        self._has_rung = False
        self._bell: socket.socket | None = None  # rung by other threads; hung up by the first `wait`
        self._ear: socket.socket | None = None

    # --- of its own thread --------------------------------------------------------------------------------------------

    def submit(self, call: Call) -> None:
        """Have a call sent by the next `wait`, or as soon as it has a slot: then its budget begins."""
        self.send(request_of(call), call.endpoint.bot_id)

    def send(self, request: Request, bot: str) -> None:
        """Have a request to a bot sent, as `submit` does."""
        if self._mail is not None and request.is_pull:
            self._mail.put(request, self.deliver)
            return
        host = self._exchanges.host(request.url)
        flight = Flight(self, host, bot, Exchange(self._exchanges, self._pool, request))
        if self._slots.enter(host, bot, flight):
            self._ready.append(flight)

    def wait(self, timeout_s: float) -> list[Answer]:
        """Send and receive; give every answer there is, [] at the timeout or when woken."""
        now = self._clock()
        self._unattended_s += now - self._left_at
        ends = now + timeout_s
        if self._bell is None:
            self._hang_up_bell()
        while True:
            self._turn(ends)
            if self._answers or self._is_woken or self._clock() >= ends:
                break
        self._is_woken = False
        answers, self._answers = self._answers, []
        self._left_at = self._clock()
        return answers

    def close(self) -> None:
        """Drop what is under way or waits, its answers too, and close all connections."""
        with self._handing_over:
            self._is_closed = True
        for flight in list(self._under_way):
            flight.steps.close()
            self._land(flight)
        while self._ready:
            self._leave(self._ready.popleft())
        while self._opened:
            self._opened.popleft().exchange.discard()
        self._pool.shut_down()
        self._selector.close()
        for end in (self._ear, self._bell):
            if end is not None:
                end.close()

    # --- from any thread ----------------------------------------------------------------------------------------------

    def wake(self) -> None:
        """End the `wait` that is under way, or else the next one; nothing once the line is closed."""
        self._is_woken = True
        self.ring()

    def ring(self) -> None:
        """Have the thread look up from its sockets."""
        bell = self._bell
        if bell is not None and not self._has_rung:
            self._has_rung = True
            with suppress(OSError):  # it is closed
                bell.send(b"\0")

    def deliver(self, answer: Answer) -> None:
        """Have the `wait` that is under way, or else the next one, give an answer that came by mail."""
        self._delivered.append(answer)
        self.ring()

    def admit(self, flight: Flight) -> bool:
        """Hand over a flight that has got its slot; False if nobody takes it any more."""
        return self._hand_over(self._ready, flight)

    def _hand_over(self, to: deque[Flight], flight: Flight) -> bool:
        with self._handing_over:
            if self._is_closed:
                return False
            to.append(flight)
        self.ring()
        return True

    # --- the loop -----------------------------------------------------------------------------------------------------

    def _turn(self, ends: float) -> None:
        """Wait once for what is awaited, at most until `ends`, and take all steps that can be taken.

        What is about to be sent waits for nothing, but does for a look at the connections: it may go out on one that
        has been idle, which must be known to be quiet.
        """
        for key, _ in self._selector.select(self._patience(ends)):
            connection: Connection | None = key.data
            if connection is None:
                self._hear()
            elif (flight := self._by_connection.get(connection)) is not None:
                self._step(flight)
            else:
                self._pool.drop(connection)
        if self._exchanges.closing:
            self._end_all()
        while self._opened:
            self._take_opened(self._opened.popleft())
        for flight in self._timers.due(self._clock()):
            flight.timer = 0
            self._step(flight)
        while self._ready:
            flight = self._ready.popleft()
            self._under_way.add(flight)
            flight.unattended_at_s = self._unattended_s
            self._step(flight)
        while self._delivered:
            self._answers.append(self._delivered.popleft())

    def _patience(self, ends: float) -> float:
        if self._ready or self._opened or self._delivered or self._is_woken:
            return 0.0
        due = self._timers.next()
        return max(0.0, (ends if due is None or due > ends else due) - self._clock())

    def _hang_up_bell(self) -> None:
        """Be there to be rung; who came before that finds no bell, and what it wanted is seen without."""
        self._ear, bell = socket.socketpair()
        for end in (self._ear, bell):
            end.settimeout(0)
        self._selector.register(self._ear, selectors.EVENT_READ, None)
        self._bell = bell

    def _hear(self) -> None:
        if self._ear is not None:
            self._ear.recv(4096)
        self._has_rung = False  # before what was handed over is looked at, so that nothing is overlooked

    def _step(self, flight: Flight) -> None:
        flight.exchange.unattended_s = self._unattended_s - flight.unattended_at_s
        if flight.blocked_at_s is not None:  # the peer may have waited for the rest all the time
            flight.exchange.deadline.forgive(self._unattended_s - flight.blocked_at_s)
            flight.blocked_at_s = None
        need = next(flight.steps, _DONE)
        if need == _DONE:
            self._land(flight)
            self._answers.append(flight.exchange.answer)
        elif need == OPEN:
            self._unwatch(flight)
            self._open(flight)
        else:
            if need == WRITE:
                flight.blocked_at_s = self._unattended_s
            self._watch(flight, need)

    def _watch(self, flight: Flight, need: Need) -> None:
        connection = flight.exchange.connection
        if connection is not None and connection is not flight.connection:
            flight.connection = connection
            self._by_connection[connection] = flight
        if not flight.timer:
            flight.timer = self._timers.add(flight.exchange.deadline.ends, flight)
        if connection is not None and connection.watched != need:
            change = self._selector.modify if connection.watched else self._selector.register
            change(connection, need, connection)
            connection.watched = need

    def _unwatch(self, flight: Flight) -> None:
        self._timers.discard(flight.timer)
        flight.timer = 0
        if flight.connection is not None:
            del self._by_connection[flight.connection]
            flight.connection = None

    def _open(self, flight: Flight) -> None:
        asked_at = self._clock()

        def open_it() -> None:
            if flight.is_over:
                return
            flight.exchange.deadline.forgive(self._clock() - asked_at)  # waiting for a thread is ours
            flight.exchange.open()
            flight.handed_over_at = self._clock()
            if not self._hand_over(self._opened, flight):
                flight.exchange.discard()

        self._openers.put(flight.host, flight.bot, open_it)

    def _take_opened(self, flight: Flight) -> None:
        if flight.is_over:
            flight.exchange.discard()
        else:
            flight.exchange.forgive_since_open(self._clock() - flight.handed_over_at)  # so is waiting for this one
            self._step(flight)

    def _end_all(self) -> None:
        """End what is under way as our fault."""
        for flight in list(self._under_way):
            with suppress(StopIteration):  # how a generator tells that it has ended
                flight.steps.throw(ClosingError())
            self._land(flight)
            self._answers.append(flight.exchange.answer)

    def _land(self, flight: Flight) -> None:
        flight.is_over = True
        self._unwatch(flight)
        self._under_way.discard(flight)
        self._leave(flight)

    def _leave(self, flight: Flight) -> None:
        """Give up a slot; it goes to whoever waits for it and whose line is still there."""
        following = self._slots.leave(flight.host, flight.bot)
        while following is not None and not following.item.line.admit(following.item):
            following = self._slots.leave(following.host, following.bot)

    def _close_connection(self, connection: Connection) -> None:
        if connection.watched:
            self._selector.unregister(connection)
            connection.watched = 0
        connection.close()
