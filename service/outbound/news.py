"""What bots are told and nothing waits for: on a line and a thread of its own, so that it holds up no question."""

from __future__ import annotations

import itertools
import logging
import threading
from collections import Counter, deque
from collections.abc import Hashable
from typing import NamedTuple

from msgspec.structs import replace

from bot_sdk.events import Outcome
from service.outbound.exchange import Exchanges
from service.outbound.line import Line
from service.outbound.mail import Mail
from service.outbound.message import request_of
from service.outbound.openers import Openers
from service.outbound.shares import Shares
from service.outbound.values import Answer, Call

log = logging.getLogger(__name__)

_AT_ONCE = 64
_PER_HOST = 48
_PER_BOT = 1  # so that each hears of the start of a game before its end
_OPENERS = 4
_OPENERS_PER_HOST = 3
_PATIENCE_S = 60.0
# So much may wait, of all hosts and of each one: what one doesn't take is no reason to drop what others would.
_MOST = 10_000
_MOST_OF_HOST = 1_000


class _Piece(NamedTuple):
    host: str
    call: Call


class News:
    """Tells bots, in a thread that starts with the first news, so after any fork."""

    def __init__(self, exchanges: Exchanges, mail: Mail | None = None) -> None:
        self._exchanges = exchanges
        self._openers = Openers("bot-news-opener", threads=_OPENERS, per_host=_OPENERS_PER_HOST, per_bot=1)
        self._line = Line(exchanges, Shares(_AT_ONCE, per_host=_PER_HOST, per_bot=_PER_BOT), self._openers, mail)
        self._lock = threading.Lock()
        self._untold: Counter[str] = Counter()  # by host
        self._inbox: deque[_Piece] = deque()
        self._told: dict[Hashable, _Piece] = {}
        self._keys = itertools.count()
        self._thread: threading.Thread | None = None
        self._is_closed = False

    def tell(self, call: Call) -> None:
        """Tell a bot once it has been told all before; drop it if there is too much of that."""
        to = call.endpoint
        host = to.bot_id if to.is_pull else self._exchanges.host(to.url)
        with self._lock:
            is_taken = self._untold[host] < _MOST_OF_HOST and self._untold.total() < _MOST and not self._is_closed
            if is_taken:
                self._untold[host] += 1
                self._inbox.append(_Piece(host, call))
                self._start()
        if is_taken:
            self._line.wake()
        else:
            bot_id = call.endpoint.bot_id
            log.warning("news to %s dropped: too much waits already", bot_id, extra={"bot_id": bot_id})

    def close(self, timeout_s: float) -> None:
        """End the threads, within about `timeout_s`; what isn't told by then isn't told."""
        with self._lock:
            self._is_closed = True
        self._line.wake()
        if self._thread is not None:
            self._thread.join(timeout_s)
        else:
            self._line.close()
        self._openers.close(timeout_s)

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._keep_telling, name="bot-news", daemon=True)
            self._thread.start()

    def _keep_telling(self) -> None:
        while not self._is_closed:
            while self._inbox:
                self._send(self._inbox.popleft())
            for answer in self._line.wait(_PATIENCE_S):
                self._note(answer)
        self._line.close()

    def _send(self, piece: _Piece) -> None:
        key = next(self._keys)
        self._told[key] = piece
        request = replace(request_of(piece.call, wants_json=False), key=key)
        self._line.send(request, piece.call.endpoint.bot_id)

    def _note(self, answer: Answer) -> None:
        host, call = self._told.pop(answer.key)
        with self._lock:
            self._untold[host] -= 1
            if not self._untold[host]:
                del self._untold[host]
        if answer.outcome is not Outcome.OK:
            bot_id = call.endpoint.bot_id
            log.info("news to %s: %s (%s)", bot_id, answer.outcome, answer.error, extra={"bot_id": bot_id})
