"""`slagbot` as the job of a terminal: with a process group of its own, and whatever ends a test gives it."""

from __future__ import annotations

import subprocess
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
