"""A bot of this process, watched while it is checked: from a fault in its answer to the line of its author's code.

What it raised, where it hung and what it printed is noted as it happens. The line that returned a wrong value is found
by asking the same decision once more, under a profiler, which would cost too much while time is taken.
"""

from __future__ import annotations

import io
import linecache
import logging
import os
import sys
import sysconfig
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from types import FrameType, TracebackType
from typing import Final, TextIO

import msgspec

from bot_sdk import messages
from bot_sdk.answering import FAILURES
from bot_sdk.bot import Bot, NoActionError
from bot_sdk.checking import faults
from bot_sdk.checking.faults import Fault, Finding
from bot_sdk.checking.values import Sent, Step, Verdict, step_of

_LOOK_EVERY_S: Final = 0.05
_SLOW_S: Final = 0.2
"""How long a decision is under way before it is looked at where it hangs."""
_LONGEST_S: Final = 5.0
"""How long is waited for a decision that is asked once more."""
_NEWS: Final = "news"
"""Stands for a decision's id where a game begins or ends."""
_TIMING: Final = frozenset({Fault.SLOW, Fault.COLD_START, Fault.SINGLE_THREADED})
_CHOSEN: Final = frozenset({
    Fault.WRONG_CASE, Fault.CARD_ONLY, Fault.CARD_OBJECT, Fault.EARLIER_ACTION, Fault.IGNORES_BODY, Fault.ILLEGAL,
})  # fmt: skip

_SAME: Final = "choose out of decision.legal each time; keep nothing that was worked out for another decision"
"""What to do where the same action is given whatever is asked: that the body is read the SDK sees to."""


@dataclass(frozen=True, slots=True)
class Place:
    """A line of the author's code, and the function it is in."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        """Name it with the text that stands there."""
        text = linecache.getline(self.file, self.line).strip()
        return f"{Path(self.file).name}:{self.line}, in {self.function}" + (f": {text}" if text else "")


@dataclass(frozen=True, slots=True)
class _Printed:
    decision_id: str | None
    place: Place
    text: str


@dataclass(frozen=True, slots=True)
class _Raised:
    error: BaseException
    place: Place | None


class Watched:
    """A bot as it is served (`bot_sdk.hosting.Hosted`), and what its code did (`Doctor`).

    `folder` is where its author's code lies: libraries installed beneath aren't his.
    """

    def __init__(self, bot: Bot, folder: Path, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._bot = bot
        self._folder = f"{folder}{os.sep}"
        libraries = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), str(Path(messages.__file__).parent)}
        self._libraries = tuple(path + os.sep for path in libraries if not self._folder.startswith(path + os.sep))
        self._clock = clock
        self._running: dict[int, tuple[str, float]] = {}
        self._raised: dict[str, _Raised] = {}
        self._hung: dict[str, Place] = {}
        self._printed: list[_Printed] = []

    @property
    def secret(self) -> str | None:
        """The bot's secret."""
        return self._bot.secret

    def card(self) -> messages.BotCard:
        """Give its card."""
        return self._bot.card()

    def answer(self, message: messages.Decision, /) -> messages.ActionReply:
        """Decide."""
        with self._noted(message.decision_id):
            return self._bot.answer(message)

    def game_started(self, started: messages.GameStarted, /) -> None:
        """Tell it of a beginning."""
        with self._noted(_NEWS):
            self._bot.game_started(started)

    def game_ended(self, ended: messages.GameEnded, /) -> None:
        """Tell it of an end."""
        with self._noted(_NEWS):
            self._bot.game_ended(ended)

    def look(self, found: Finding, decisions: Sequence[messages.Decision], sent: Sent | None) -> Finding:
        """Name the line that a fault comes from, if it was found."""
        del sent
        if not decisions and found.fault is Fault.RAISED and (raised := self._raised.pop(_NEWS, None)):
            return _of_error(raised)
        for decision in decisions:
            if raised := self._raised.get(decision.decision_id):
                return self._of_decision(decision, raised)
            if found.fault in _TIMING and (place := self._hung.get(decision.decision_id)):
                return msgspec.structs.replace(found, where=str(place))
            if found.fault in _CHOSEN and (place := self._asked_again(decision)):
                advice = _SAME if found.fault is Fault.IGNORES_BODY else found.advice
                return msgspec.structs.replace(found, where=str(place), advice=advice)
        return found

    def prints(self) -> Step | None:
        """Give a step about what it printed; None if nothing."""
        if not self._printed:
            return None
        places = dict.fromkeys(str(each.place) for each in self._printed)
        told = f"printed to stdout, {len(self._printed)} times, at first {self._printed[0].text[:60]!r}"
        return step_of("output", Verdict(told, 0.0, Finding(Fault.PRINTED, told, "; ".join(list(places)[:3]))))

    def keep_looking(self, ended: threading.Event) -> None:
        """Note where decisions hang, until the end of it."""
        while not ended.wait(_LOOK_EVERY_S):
            now, frames = self._clock(), sys._current_frames()  # noqa: SLF001 - the documented way to other threads
            for thread, (name, since) in list(self._running.items()):
                frame = frames.get(thread)
                if frame and now - since > _SLOW_S and (place := self._innermost(frame)):
                    self._hung[name] = place

    def note_output(self, text: str) -> None:
        """Take notice of what is printed, if it's the author's code that calls."""
        if text.strip() and (place := self._innermost(sys._getframe(1))):  # noqa: SLF001 - as documented
            name, _ = self._running.get(threading.get_ident(), (None, 0.0))
            self._printed.append(_Printed(name, place, text.strip()))

    @contextmanager
    def _noted(self, name: str) -> Iterator[None]:
        """Note how long the author's code is at something, and what it raises."""
        me = threading.get_ident()
        self._running[me] = name, self._clock()
        try:
            yield
        except FAILURES as error:
            self._raised[name] = _Raised(error, self._raised_at(error.__traceback__))
            raise
        finally:
            del self._running[me]

    def _of_decision(self, decision: messages.Decision, raised: _Raised) -> Finding:
        error = raised.error
        if isinstance(error, NoActionError):
            place = self._asked_again(decision)
            found = faults.of_value(error.chosen, decision, str(place) if place else None)
            printed = [each.text for each in self._printed if each.decision_id == decision.decision_id]
            more = f", after it printed {printed[-1][:60]!r}" if printed else ""
            return msgspec.structs.replace(found, detail=found.detail + more)
        return _of_error(raised)

    def _asked_again(self, decision: messages.Decision) -> Place | None:
        """Ask once more, in a thread of its own; give the line of the author's that returned what it chose."""
        returned: list[Place] = []

        def profile(frame: FrameType, event: str, _value: object) -> None:
            caller = frame.f_back
            if event == "return" and self._is_own(frame) and not (caller and self._is_own(caller)):
                returned.append(self._place(frame))

        def ask() -> None:
            sys.setprofile(profile)
            try:
                self._bot.answer(decision)
            except FAILURES:
                return  # what it raises has been judged before
            finally:
                sys.setprofile(None)

        thread = threading.Thread(target=ask, daemon=True)
        thread.start()
        thread.join(_LONGEST_S)
        return returned[-1] if returned else None

    def _raised_at(self, trace: TracebackType | None) -> Place | None:
        found = None
        while trace:
            if self._is_own(trace.tb_frame):
                found = Place(trace.tb_frame.f_code.co_filename, trace.tb_lineno, trace.tb_frame.f_code.co_name)
            trace = trace.tb_next
        return found

    def _innermost(self, frame: FrameType | None) -> Place | None:
        while frame and not self._is_own(frame):
            frame = frame.f_back
        return self._place(frame) if frame else None

    def _is_own(self, frame: FrameType) -> bool:
        file = frame.f_code.co_filename
        return file.startswith(self._folder) and not file.startswith(self._libraries)

    @staticmethod
    def _place(frame: FrameType) -> Place:
        return Place(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)


def _of_error(raised: _Raised) -> Finding:
    place = str(raised.place) if raised.place else None
    return Finding(Fault.RAISED, f"raised {type(raised.error).__name__}: {raised.error}", place)


class _Overheard(io.TextIOBase):
    """Stands for stdout: tells of what is written, and passes it on to stderr."""

    def __init__(self, note: Callable[[str], None], to: TextIO) -> None:
        self._note = note
        self._to = to

    def writable(self) -> bool:
        return True

    def write(self, text: str, /) -> int:
        self._note(text)
        return self._to.write(text)

    def flush(self) -> None:
        self._to.flush()


@contextmanager
def watching(bot: Bot, folder: Path) -> Iterator[Watched]:
    """Watch a bot as long as the block runs: its stdout goes to stderr, its own log is silent."""
    watched, ended = Watched(bot, folder), threading.Event()
    thread = threading.Thread(target=watched.keep_looking, args=(ended,), daemon=True)
    log = logging.getLogger("slagveld.bot")
    was_disabled, log.disabled = log.disabled, True
    thread.start()
    try:
        with redirect_stdout(_Overheard(watched.note_output, sys.stderr)):
            yield watched
    finally:
        log.disabled = was_disabled
        ended.set()
        thread.join()
