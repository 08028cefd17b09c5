"""Signals as a main thread wants them: it waits, and learns that it is asked to stop or that a child ended."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Final, Self

STOPPING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
TWICE_S: Final = 0.5
INTERRUPTED: Final = 130
"""The exit status of a command that Ctrl-C ended, as shells have it."""


class Signals:
    """While it is entered, Ctrl-C, SIGTERM and SIGHUP are counted instead of obeyed. Main thread only.

    `stop` tells that one came; whoever runs then ends in good order. At a Ctrl-C after that `again` is called, from
    within the signal handler: it is the place to kill what is left and leave. Wrappers such as `timeout` send their
    signal twice at once; that counts as one.
    """

    def __init__(self, again: Callable[[], object]) -> None:
        """Remember what the second signal does."""
        self._again = again
        self._before: dict[int, Any] = {}
        self._wakeup = -1
        self._pipe = (-1, -1)
        self.first: int | None = None
        self._at = 0.0

    @property
    def stop(self) -> bool:
        """Whether we were asked to stop."""
        return self.first is not None

    @property
    def status(self) -> int:
        """The exit status after a stop in good order: 130 after Ctrl-C, else 0."""
        return INTERRUPTED if self.first == signal.SIGINT else 0

    def wait(self, seconds: float | None = None) -> None:
        """Return at the next signal, a child's end among them, or after `seconds`."""
        ready, _, _ = select.select([self._pipe[0]], [], [], seconds)
        if ready:
            os.read(self._pipe[0], 4096)

    def wait_for_stop(self) -> None:
        """Return once we were asked to stop."""
        while not self.stop:
            self.wait()

    def __enter__(self) -> Self:
        self._pipe = os.pipe()
        for end in self._pipe:
            os.set_blocking(end, False)
        self._wakeup = signal.set_wakeup_fd(self._pipe[1], warn_on_full_buffer=False)
        for number in STOPPING:
            if signal.getsignal(number) is not signal.SIG_IGN or number == signal.SIGTERM:  # nohup stays nohup
                self._before[number] = signal.signal(number, self._asked)
        self._before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, _noted)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._wakeup)
        for end in self._pipe:
            os.close(end)

    def _asked(self, number: int, _frame: FrameType | None) -> None:
        if self.first is None:
            self.first, self._at = number, time.monotonic()
        elif number == signal.SIGINT and time.monotonic() - self._at > TWICE_S:
            self._again()


def _noted(_number: int, _frame: FrameType | None) -> None:
    """Let the wake-up happen: an ignored signal would not wake anybody."""
