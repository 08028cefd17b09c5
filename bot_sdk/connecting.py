"""A bot without a URL: it fetches what it is asked from the arena, and sends its answers there.

One thread polls, some answer, one sends what is answered. What is asked, how it is signed and what comes of an answer
is the same as over HTTP (docs/contract.md); a call that is lost on the way is a late answer, and nothing else.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Final, NamedTuple, Self

from bot_sdk.answers import PulledCall
from bot_sdk.client import Arena, ArenaError
from bot_sdk.client.orders import CallAnswer
from bot_sdk.following import PASSING
from bot_sdk.hosting import Hosted, OnDecided, respond

log = logging.getLogger("slagveld.bot")

THREADS: Final = 16
"""So many calls are answered at once; who has none free fetches no more, and leaves the rest to other copies."""
WAIT_S: Final = 10
TIMEOUT_S: Final = 5.0
PACE_S: Final = 0.015
"""How long who has several calls in hand waits with the next poll, which then finds more of them."""
GATHER_S: Final = 0.005
"""How long an answer waits at most for others that are about to be given: they go together."""
ALIVE_S: Final = 1.5
"""How often one that has no thread free says that it is there."""
LONGEST_PAUSE_S: Final = 2.0
_LOOK_S: Final = 0.1
MOST_FETCHED: Final = 64
MOST_AT_ONCE: Final = 128
MOST_BYTES: Final = 256 * 1024
"""So much of answers goes into one request: written as text within JSON it is twice as long at most, usually."""
KEPT_S: Final = 30.0
"""After this long, the longest budget, nobody waits for an answer."""
_PASSING: Final = PASSING | {HTTPStatus.INTERNAL_SERVER_ERROR}
"""A bot stays by its arena even where that has broken in answering."""


class _Answer(NamedTuple):
    id: str
    status: int
    body: str
    since: float


class Connection:
    """Lets a registered bot play for as long as `run` runs. `tell` is told in words when the arena is away and back.

    `on_decided` is told of each decision, as by a server. The account of `token` owns the bot.
    """

    def __init__(
        self,
        arena_url: str,
        token: str | None,
        bot_id: str,
        bot: Hosted,
        *,
        threads: int = THREADS,
        on_decided: OnDecided | None = None,
        tell: Callable[[str], None] = log.info,
        clock: Callable[[], float] = time.monotonic,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """Aim at an arena; nothing is sent yet."""
        self._bot = bot
        self._bot_id = bot_id
        self._threads = threads
        self._on_decided = on_decided
        self._tell = tell
        self._clock = clock
        self._jitter = jitter
        self._polling = Arena(arena_url, token, timeout_s=TIMEOUT_S)
        self._sending = Arena(arena_url, token, timeout_s=TIMEOUT_S)
        self._changed = threading.Condition()
        self._calls: deque[PulledCall] = deque()
        self._answers: deque[_Answer] = deque()
        self._in_hand = 0
        self._is_away = False
        self._is_stopped = threading.Event()
        self.has_polled = threading.Event()
        """Set once the arena knows that the bot is there."""

    def run(self) -> None:
        """Answer what is asked until `stop`, through all that passes; raises `ArenaError` for what doesn't."""
        workers = [threading.Thread(target=self._keep_answering, daemon=True) for _ in range(self._threads)]
        sender = threading.Thread(target=self._keep_sending, daemon=True)
        for thread in (*workers, sender):
            thread.start()
        try:
            self._keep_polling()
        finally:
            self.stop()
            sender.join(TIMEOUT_S)
            for client in (self._polling, self._sending):
                client.close()

    def stop(self) -> None:
        """End `run`, at the latest when its poll is answered; what was fetched by then is still answered, if soon."""
        with self._changed:
            self._is_stopped.set()
            self._changed.notify_all()

    # --- polling ------------------------------------------------------------------------------------------------------

    def _keep_polling(self) -> None:
        pause_s, is_known = 0.0, False
        while not self._is_stopped.wait(pause_s):
            try:
                if not is_known:
                    self._polling.show_card(self._bot_id, self._bot.card())
                    is_known = True
                self._poll()
            except ArenaError as error:
                if error.status not in _PASSING:
                    raise
                pause_s = min(LONGEST_PAUSE_S, 2 * pause_s + 0.1 * (1 + self._jitter()))
                is_known = is_known and error.status == HTTPStatus.TOO_MANY_REQUESTS  # that arena hasn't been away
                self._note_away(error)
            else:
                pause_s = 0.0
                self._note_away(None)

    def _poll(self) -> None:
        """Fetch as many calls as there are threads for, and hand them out."""
        free = self._wait_for_room()
        if not free:
            return
        wait_s = WAIT_S if self.has_polled.is_set() else 0
        calls = self._polling.fetch_calls(self._bot_id, limit=min(free, MOST_FETCHED), wait_s=wait_s)
        self.has_polled.set()
        with self._changed:
            self._in_hand += len(calls)
            self._calls += calls
            is_busy = self._in_hand > 1
            self._changed.notify_all()
        if is_busy:
            self._is_stopped.wait(PACE_S)

    def _wait_for_room(self) -> int:
        """Tell for how many calls there are threads free; while there are none, say that the bot is there."""
        with self._changed:
            self._changed.wait_for(lambda: self._in_hand < self._threads or self._is_stopped.is_set(), ALIVE_S)
            free = 0 if self._is_stopped.is_set() else self._threads - self._in_hand
        if not free and not self._is_stopped.is_set():
            self._send([], self._polling)
        return free

    def _note_away(self, error: ArenaError | None) -> None:
        if error is not None and not self._is_away:
            self._tell(f"the arena is away, trying again: {error}")
        elif error is None and self._is_away:
            self._tell("the arena is back")
        self._is_away = error is not None

    # --- answering ----------------------------------------------------------------------------------------------------

    def _keep_answering(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._calls or self._is_stopped.is_set())
                if not self._calls:
                    return
                call = self._calls.popleft()
            began = self._clock()
            reply = respond(self._bot, "POST", call.headers, call.body.encode(), on_decided=self._on_decided)
            answer = _Answer(call.id, int(reply.status), reply.body.decode(errors="replace"), began)
            with self._changed:
                self._in_hand -= 1
                self._answers.append(answer)
                self._changed.notify_all()

    # --- sending ------------------------------------------------------------------------------------------------------

    def _keep_sending(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._answers or (self._is_stopped.is_set() and not self._in_hand))
                if not self._answers:
                    return
                self._changed.wait_for(lambda: not self._in_hand, GATHER_S)
                answers = self._next_answers()
            try:
                self._note_missed(answers, self._send(answers, self._sending))
            except ArenaError as error:
                self._keep_what_passes(answers, error)

    def _next_answers(self) -> list[_Answer]:
        """Take as many answers as go into one request; one that is too long goes alone, and is refused alone."""
        taken = [self._answers.popleft()]
        size = len(taken[0].body)
        while self._answers and len(taken) < MOST_AT_ONCE:
            size += len(self._answers[0].body)
            if size > MOST_BYTES:
                break
            taken.append(self._answers.popleft())
        return taken

    def _send(self, answers: Sequence[_Answer], by: Arena) -> list[str]:
        items: list[CallAnswer] = [{"id": each.id, "status": each.status, "body": each.body} for each in answers]
        return by.answer_calls(self._bot_id, items).taken

    def _note_missed(self, answers: Sequence[_Answer], taken: Sequence[str]) -> None:
        for answer in answers:
            if answer.id not in taken:
                took_s = self._clock() - answer.since
                log.info("%s: nobody waits for this answer any more, after %.0f ms here", answer.id, took_s * 1000)

    def _keep_what_passes(self, answers: Sequence[_Answer], error: ArenaError) -> None:
        """Keep answers for another try: of the same answer twice the arena takes one."""
        if error.status not in _PASSING:
            log.warning("the arena refused %d answers: %s", len(answers), error)
            return
        oldest = self._clock() - KEPT_S
        with self._changed:
            self._answers.extendleft(reversed([each for each in answers if each.since > oldest]))
        self._is_stopped.wait(0.1 * (1 + self._jitter()))


class Running:
    """A connection that runs in a thread for as long as a `with` lasts."""

    def __init__(self, connection: Connection) -> None:
        """Say which; it starts with the block."""
        self._connection = connection
        self._thread = threading.Thread(target=self._run, name="connection", daemon=True)
        self._failure: ArenaError | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.stop()
        self._thread.join(TIMEOUT_S)

    def wait_until_connected(self) -> None:
        """Wait until the arena knows that the bot is there, for as long as it is away."""
        while not self._connection.has_polled.wait(_LOOK_S):
            self._check()

    def wait(self) -> None:
        """Wait until it ends; raises the `ArenaError` that ended it."""
        while self._thread.is_alive():
            self._thread.join(_LOOK_S)
        self._check()

    def _check(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        try:
            self._connection.run()
        except ArenaError as error:
            self._failure = error
