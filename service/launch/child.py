"""A process that the supervisor keeps alive: started, watched, started again after a pause, stopped with its group."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from service.launch.tied import tie

STEADY_S: Final = 20.0
"""A process that ran this long before it died is started again at once."""
FIRST_PAUSE_S: Final = 0.25
LONGEST_PAUSE_S: Final = 10.0
OFTEN: Final = 5
"""So many early deaths in a row are worth a word."""


class Child:
    """One process and its successors. `ended` and `due` are asked by the supervisor, which does the waiting."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        tell: Callable[[str], object],
        keep_fds: Sequence[int] = (),
    ) -> None:
        """Describe the process; nothing runs before `start`. `tell` takes sentences for the operator."""
        self.name = name
        self._command = list(command)
        self._environment = dict(environment)
        self._tell = tell
        self._keep_fds = tuple(keep_fds)
        self._process: subprocess.Popen[bytes] | None = None
        self._started = 0.0
        self._early_deaths = 0
        self._again_at = 0.0

    @property
    def pid(self) -> int | None:
        """The process id, None while it doesn't run."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Start the process, in a group of its own: a Ctrl-C in the terminal is for its parent."""
        self._started = time.monotonic()
        self._process = subprocess.Popen(  # noqa: S603 - our own command
            self._command,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            pass_fds=self._keep_fds,
            start_new_session=True,
            preexec_fn=tie(),  # noqa: PLW1509 - two system calls, no locks
        )

    def look(self) -> None:
        """Notice that the process died, say so, and start the next one when its pause is over."""
        now = time.monotonic()
        if self._process is None:
            if now >= self._again_at:
                self.start()
        elif (code := self._process.poll()) is not None:
            self.kill()  # what it leaves of its group would go on serving
            self._early_deaths = self._early_deaths + 1 if now - self._started < STEADY_S else 0
            self._again_at = now + self._pause()
            self._tell(self._obituary(code))
            self._process = None

    def ask_to_stop(self) -> None:
        """Send SIGTERM."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()

    @property
    def is_gone(self) -> bool:
        """Whether the process has ended (or never began)."""
        return self._process is None or self._process.poll() is not None

    def kill(self) -> None:
        """Kill the process and whatever it started; may be called from a signal handler."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS says the latter of zombies
                os.killpg(self._process.pid, signal.SIGKILL)

    def reap(self) -> None:
        """Kill what is left and collect its exit status."""
        if self._process is not None:
            self.kill()
            self._process.wait(timeout=5)
            self._process = None

    def _pause(self) -> float:
        if self._early_deaths == 0:
            return 0.0
        return min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2.0 ** (self._early_deaths - 1))

    def _obituary(self, code: int) -> str:
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"
        said = f"{self.name} (process {self.pid}) {how}"
        if self._early_deaths < OFTEN:
            return f"{said}, starting it again"
        pause = self._again_at - time.monotonic()
        return f"{said}, for the {self._early_deaths}th time in a row soon after its start; next try in {pause:.0f} s"
