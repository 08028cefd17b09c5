"""`slagbot` as tests call it: in this process, or as a program of its own."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

from click.testing import CliRunner

from bot_sdk.cli import main

ROOT = Path(__file__).parents[3]
PATIENCE_S = 60
SLAGBOT = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job, as pytest may be, ignores it
from bot_sdk.cli import main
main()
"""
PROGRAM = (sys.executable, "-c", SLAGBOT)


def slagbot(*arguments, status=0):
    ran = CliRunner().invoke(main, [str(argument) for argument in arguments], catch_exceptions=False)
    assert ran.exit_code == status, ran.output
    return ran


def environment(**more):
    """The environment of a program that finds this package, without what changes how Python or a bot behaves."""
    given = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "SLAGVELD_"))}
    return {**given, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", **more}


class Running:
    """A program, and the lines it writes as they come."""

    def __init__(self, process):
        self.process = process
        self._lines = queue.Queue()
        self._all = []
        for stream in (process.stdout, process.stderr):
            threading.Thread(target=self._read, args=(stream,), daemon=True).start()

    def _read(self, stream):
        for line in stream:
            self._lines.put(line)

    def line_with(self, text):
        """Wait for a line that holds a text; gives the first such one that hasn't been read over."""
        while True:
            try:
                self._all.append(self._lines.get(timeout=PATIENCE_S))
            except queue.Empty:
                raise AssertionError(f"expected a line with {text!r}, got {''.join(self._all)}") from None
            if text in self._all[-1]:
                return self._all[-1]


@contextmanager
def running(*command, cwd, **variables):
    """Run a program for as long as the block does."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=cwd, env=environment(**variables), **pipes) as process:
        try:
            yield Running(process)
        finally:
            process.kill()
