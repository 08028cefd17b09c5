"""`slagbot` as the job of a terminal: with a process group of its own, and whatever ends a test gives it."""

from __future__ import annotations

import os
import select
import subprocess
import time
from contextlib import contextmanager

from tests.bot_sdk.commands.running import PROGRAM, environment


@contextmanager
def started(*arguments, **more):
    """Start a command, which doesn't outlive the block."""
    command = [*PROGRAM, *map(str, arguments)]
    with subprocess.Popen(command, env=environment(), process_group=0, **more) as process:
        try:
            yield process
        finally:
            process.kill()


class Terminal:
    """A terminal, and who sits at it. Time is bounded by that of the process which is watched."""

    def __enter__(self):
        import pty  # noqa: PLC0415 - only where there are any

        self.ours, self.theirs = pty.openpty()
        self.ends = {"stdin": self.theirs, "stdout": self.theirs, "stderr": self.theirs}
        return self

    def __exit__(self, *_):
        os.close(self.theirs)
        os.close(self.ours)

    def press(self, key):
        """Press a key once it is waited for: what is typed before is thrown away."""
        import termios  # noqa: PLC0415 - only where there are any

        until = time.monotonic() + 60
        while termios.tcgetattr(self.theirs)[3] & termios.ICANON:
            assert time.monotonic() < until
            time.sleep(0.01)
        os.write(self.ours, key.encode())

    def read_until(self, text):
        """Read what is shown up to a text."""
        seen = ""
        while text not in seen:
            assert select.select([self.ours], [], [], 60)[0], seen
            seen += os.read(self.ours, 4096).decode()
        return seen
