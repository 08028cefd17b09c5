"""A terminal as a reader has one: the commands of this environment, a folder of its own, servers in the background."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.installed import environment

PATIENCE_S = 120


class Shell:
    """Runs scripts in `folder`; a call gives what was printed and the exit status."""

    def __init__(self, folder):
        self.folder = folder
        self._environment = environment(folder / ".site")
        self._environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self._started = []

    def __call__(self, script, *, in_background=False):
        """Run a script, or start it `in_background`: then the file that it prints to is given."""
        told = self.folder / f"out{len(self._started)}"
        with told.open("w") as out:
            process = subprocess.Popen(
                ["bash", "-euo", "pipefail", "-c", script],
                cwd=self.folder,
                env=self._environment,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._started.append(process)
        if in_background:
            return told
        status = process.wait(PATIENCE_S)
        return told.read_text(), status

    def close(self):
        """End what still runs."""
        for process in reversed(self._started):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
        for process in reversed(self._started):
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                pytest.fail(f"{process.args} didn't end")


def says(told, pattern):
    """Wait until a process in the background has printed what is looked for, and give the match."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        said = re.search(pattern, told.read_text())
        if said:
            return said
        time.sleep(0.05)
    pytest.fail(told.read_text())


def listens_at(told):
    """Wait until a server says where it listens."""
    return says(told, r"http://127\.0\.0\.1:\d+")[0]
