"""Calls to bots that fetch them: put into their mailboxes, and answered, timed and judged as those by HTTP are.

Two threads serve all lines of a process. One posts what there is, all of it in one round trip, and sees to deadlines;
the other hears answers. A call's budget begins when it is in the mailbox, so whatever keeps us from putting it there
costs the bot nothing. At the deadline the call is taken back, after which nobody can answer it: so no answer is lost
that came in time, however late this process looks.
"""

from __future__ import annotations

import logging
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import ceil, inf
from typing import Final, TypeVar

from bot_sdk.events import Outcome
from service.outbound.letters import (
    AWAY,
    CLOSING,
    GONE,
    LOST,
    NO_CARD,
    REFUSED,
    STALLED,
    UNHEARD,
    Deliver,
    Letter,
    Verdict,
    carded,
    judged,
    waited_for,
)
from service.outbound.message import Request
from service.outbound.office import CLOSED, DAMAGED, Heard, Name, Office, written
from service.outbound.timers import Timers
from service.outbound.values import Answer

log = logging.getLogger(__name__)

HEAR_S: Final = 0.5
RECALL_S: Final = 0.5
"""How often it is looked whether the bots whose calls nobody has fetched are still there."""
STALL_S: Final = 0.25
"""The mailboxes may keep us waiting for so long before that is a stall of ours, and says nothing about the bot."""
AFTER_STALL_S: Final = 10.0
"""So long after a stall a bot that doesn't poll may have been kept from it."""
CLOSED_S: Final = 60.0
"""How long a call waits at most until it can be put."""
PAUSE_S: Final = 0.05
AGAIN_S: Final = 0.25
"""How often it is tried to put what waits for a bot that may be kept from polling."""
LOST_S: Final = 1.0
"""How long an answer may take from its mailbox to us before it is lost."""
ASK_PATIENCE_S: Final = 30.0
T = TypeVar("T")


class Mail:
    """Puts requests into mailboxes and delivers the answers, each once; from any thread."""

    def __init__(self, office: Office, *, clock: Callable[[], float], now: Callable[[], float]) -> None:
        self._office = office
        self._clock = clock
        self._now = now
        self._changed = threading.Condition()
        self._outgoing: list[Letter] = []
        self._waiting: list[Letter] = []  # until `again_at`
        self._again_at = 0.0
        self._awaited: defaultdict[Name, list[Letter]] = defaultdict(list)
        self._timers: Timers[Letter] = Timers()
        self._recalled_at = 0.0
        self._stalled_at = -inf
        self._threads: list[threading.Thread] = []
        self._closed = threading.Event()

    def put(self, request: Request, deliver: Deliver) -> None:
        """Have a request put, and its answer delivered, in another thread; `deliver` must not wait."""
        assert request.call is not None  # noqa: S101 - a card is asked for otherwise
        letter = Letter(request, request.call, deliver, self._clock())
        with self._changed:
            if not self._closed.is_set():
                self._outgoing.append(letter)
                self._start()
                self._changed.notify_all()
                return
        self._end(letter, CLOSING)

    def ask(self, request: Request) -> Answer:
        """Ask in the thread that calls, and wait for the answer."""
        answers: list[Answer] = []
        is_there = threading.Event()

        def take(answer: Answer) -> None:
            answers.append(answer)
            is_there.set()

        self.put(request, take)
        is_there.wait(request.budget_s + ASK_PATIENCE_S)
        if not answers:
            return AWAY.answer(request.key, 0.0)
        return answers[0]

    def get_card(self, bot_id: str) -> Answer:
        """Give the card that a bot has sent, as if it had been asked for it now."""
        try:
            card, is_there = self._office.card(bot_id)
        except Exception as error:  # noqa: BLE001  # whatever the store says, it is none of the bot's doing
            log.warning("the card of %s can't be read: %s", bot_id, error, extra={"bot_id": bot_id})
            return AWAY.answer(bot_id, 0.0)
        if not is_there:
            return GONE.answer(bot_id, 0.0)
        return (NO_CARD if card is None else carded(card)).answer(bot_id, 0.0)

    def close(self, timeout_s: float) -> None:
        """End the threads within about `timeout_s`; what is in the mail then ends as our fault."""
        with self._changed:
            self._closed.set()
            self._changed.notify_all()
        ends = self._clock() + timeout_s
        for thread in self._threads:
            thread.join(max(0.0, ends - self._clock()))
        left = [letter for letters in self._awaited.values() for letter in letters]
        if left:
            with suppress(Exception):  # then they expire
                self._office.withdraw([(*letter.name, letter.put_us) for letter in left])
        for letter in [*left, *self._outgoing, *self._waiting]:
            self._end(letter, CLOSING)

    # --- the thread that posts ----------------------------------------------------------------------------------------

    def _start(self) -> None:
        if not self._threads:
            for name, work in (("bot-mail", self._keep_posting), ("bot-mail-ear", self._keep_hearing)):
                self._threads.append(threading.Thread(target=work, name=name, daemon=True))
                self._threads[-1].start()

    def _keep_posting(self) -> None:
        while not self._closed.is_set():
            with self._changed:
                self._changed.wait_for(lambda: self._outgoing or self._closed.is_set(), self._patience())
                letters, self._outgoing = self._outgoing, []
                if self._clock() >= self._again_at:
                    letters, self._waiting = self._waiting + letters, []
            try:
                self._post(letters)
                self._settle()
                self._recall()
            except Exception as error:  # noqa: BLE001  # whatever the store says, trying again is right
                log.warning("the mailboxes are away: %.200s", error)
                self._stalled_at = self._clock()
                self._closed.wait(PAUSE_S)

    def _patience(self) -> float | None:
        """Tell how long there is nothing to do but to post what comes; None if nothing is awaited or waits."""
        due = self._timers.next()
        times = [] if due is None else [due]
        if self._awaited:
            times.append(self._recalled_at + RECALL_S)
        if self._waiting:
            times.append(self._again_at)
        return max(0.0, min(times) - self._clock()) if times else None

    def _post(self, letters: list[Letter]) -> None:
        if not letters:
            return
        with self._changed:
            for letter in letters:
                letter.sent = self._clock()
                self._awaited[letter.name].append(letter)
            self._changed.notify_all()
        try:
            told = self._timed(lambda: self._office.put([written(letter.call, self._now()) for letter in letters]))
        except Exception:  # whatever kept them from being put, it passes, and is told by who called
            self._post_again(letters)
            raise
        for letter, put_us in zip(letters, told, strict=True):
            self._note(letter, put_us)

    def _note(self, letter: Letter, put_us: int | None) -> None:
        """Note what became of a letter. If its mailbox has no owner, he may have been kept away by us, and it waits."""
        if put_us == DAMAGED:
            self._end(letter, REFUSED)
        elif put_us is not None and put_us != CLOSED:
            self._note_put(letter, put_us)
        elif self._clock() - letter.since < CLOSED_S and (put_us == CLOSED or self._may_be_kept_away()):
            self._post_later(letter)
        else:
            self._end(letter, UNHEARD if put_us == CLOSED else GONE)

    def _post_later(self, letter: Letter) -> None:
        with self._changed:
            if not letter.is_over:
                self._forget(letter)
                if not self._waiting:
                    self._again_at = self._clock() + AGAIN_S
                self._waiting.append(letter)

    def _post_again(self, letters: Sequence[Letter]) -> None:
        with self._changed:
            again = [letter for letter in letters if not letter.is_over]
            for letter in again:
                self._forget(letter)
            self._outgoing[:0] = again

    def _note_put(self, letter: Letter, put_us: int) -> None:
        with self._changed:
            if not letter.is_over:
                letter.started, letter.put_us = self._clock(), put_us
                letter.timer = self._timers.add(letter.started + letter.request.budget_s, letter)

    def _settle(self) -> None:
        """End what is at its deadline."""
        with self._changed:
            due = list(self._timers.due(self._clock()))
        lost = [letter for letter in due if letter.is_lost]
        for letter in lost:
            self._end(letter, LOST)
        late = [letter for letter in due if not letter.is_lost]
        if not late:
            return
        try:
            told = self._timed(lambda: self._office.withdraw([(*letter.name, letter.put_us) for letter in late]))
        except Exception:  # likewise
            self._set_timers(late, PAUSE_S)
            raise
        for letter, found in zip(late, told, strict=True):
            if found is None:
                letter.is_lost = True
                self._set_timers([letter], LOST_S)
            elif found == CLOSED:
                self._end(letter, UNHEARD)
            else:
                self._end_late(letter, was_fetched=bool(found))

    def _set_timers(self, letters: Sequence[Letter], seconds: float) -> None:
        with self._changed:
            for letter in letters:
                if not letter.is_over:
                    letter.timer = self._timers.add(self._clock() + seconds, letter)

    def _end_late(self, letter: Letter, *, was_fetched: bool) -> None:
        if (letter.started or 0.0) <= self._stalled_at:
            self._end(letter, STALLED)
        else:
            what = "an answer" if was_fetched else "the bot to fetch it"
            self._end(letter, Verdict(Outcome.LATE, waited_for(letter.request, what)))

    def _recall(self) -> None:
        """End what nobody has fetched, of bots that have gone."""
        now = self._clock()
        if now - self._recalled_at < RECALL_S:
            return
        self._recalled_at = now
        if self._may_be_kept_away():
            return
        with self._changed:
            waiting = [each for letters in self._awaited.values() for each in letters if _waits(each, now)]
        if not waiting:
            return
        told = self._timed(lambda: self._office.recall([letter.name for letter in waiting]))
        for letter, is_gone in zip(waiting, told, strict=True):
            if is_gone:
                self._end(letter, GONE)

    def _may_be_kept_away(self) -> bool:
        """Whether a bot that doesn't poll may have been kept from it by us."""
        return self._clock() - self._stalled_at < AFTER_STALL_S

    def _timed(self, work: Callable[[], T], expected_s: float = 0.0) -> T:
        """Do something with the mailboxes, and note if that took too long."""
        began = self._clock()
        done = work()
        if self._clock() - began > expected_s + STALL_S:
            self._stalled_at = self._clock()
        return done

    # --- the thread that hears ----------------------------------------------------------------------------------------

    def _keep_hearing(self) -> None:
        while not self._closed.is_set():
            with self._changed:
                self._changed.wait_for(lambda: self._awaited or self._closed.is_set())
            if self._closed.is_set():
                return
            try:
                heard = self._timed(lambda: self._office.hear(ceil(HEAR_S * 1000)), HEAR_S)
            except Exception as error:  # noqa: BLE001  # as above
                log.warning("the mailboxes are away: %.200s", error)
                self._stalled_at = self._clock()
                self._closed.wait(PAUSE_S)
            else:
                for answer in heard:
                    self._take(answer)

    def _take(self, heard: Heard) -> None:
        with self._changed:
            letters = list(self._awaited.get((heard.bot_id, heard.call_id), ()))
        for letter in letters:
            self._end(letter, judged(letter.request, heard, self._elapsed(letter, heard)))

    def _elapsed(self, letter: Letter, heard: Heard) -> float:
        """Tell how many seconds an answer took: until it came, if it did in time and we only heard of it after that."""
        elapsed = self._waited(letter)
        if elapsed > letter.request.budget_s and letter.put_us:
            came = (heard.at_us - letter.put_us) / 1_000_000
            if 0 <= came <= letter.request.budget_s:
                return came
        return elapsed

    # --- both ---------------------------------------------------------------------------------------------------------

    def _waited(self, letter: Letter) -> float:
        began = letter.sent if letter.started is None else letter.started
        return self._clock() - began if began else 0.0

    def _end(self, letter: Letter, verdict: Verdict) -> None:
        """Deliver an answer, unless another was."""
        with self._changed:
            if letter.is_over:
                return
            letter.is_over = True
            self._forget(letter)
        letter.deliver(verdict.answer(letter.request.key, self._waited(letter)))

    def _forget(self, letter: Letter) -> None:
        self._timers.discard(letter.timer)
        letter.timer = 0
        letters = self._awaited.get(letter.name)
        if letters is not None and letter in letters:
            letters.remove(letter)
            if not letters:
                del self._awaited[letter.name]


def _waits(letter: Letter, now: float) -> bool:
    return letter.started is not None and now - letter.started > RECALL_S and not letter.is_lost
