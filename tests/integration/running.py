"""`slagveld up` as a user runs it: a process of its own, on a free port, on a folder of its own."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

START_S = 90
STOP_S = 15
SLAGVELD = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job, as pytest may be, ignores it
from service.cli import main
main()
"""


def state_of(pid):
    """Give the letter of a process's state, Z for one that is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "Z"


def children_of(pid):
    """Give the command line of each living child by its process id."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it ends while we look
        found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return {int(child): command_of(child) for child in found if state_of(child) != "Z"}
    return {}


def command_of(pid):
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it ends while we look
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    return ""


def descendants_of(pid):
    found = set()
    for child in children_of(pid):
        found |= {child} | descendants_of(child)
    return found


def wait_until(holds, seconds, what):
    ends = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < ends, f"after {seconds} s: {what}"
        time.sleep(0.02)


class Up:
    """A running `slagveld up`."""

    def __init__(self, data, *options, environment=None, as_json=True):
        inherited = {
            name: value for name, value in os.environ.items() if not name.startswith(("SLAGVELD_", "REDIS_URL"))
        }
        self.process = subprocess.Popen(
            [sys.executable, "-c", SLAGVELD, "up", "--port", "0", "--data", str(data), *options, *["--json"] * as_json],
            env=inherited | {"PYTHONUNBUFFERED": "1"} | (environment or {}),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.said = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        self.seen = set()

    def _read(self):
        self.said.extend(self.process.stderr)

    @property
    def pid(self):
        return self.process.pid

    def ready(self):
        """Wait until it says where it is, and give that URL."""
        return json.loads(self.until("}"))["url"]

    def until(self, end):
        """Wait for a line of its stdout that ends like this, and give all that came up to it."""
        text = ""
        watchdog = threading.Timer(START_S, self.process.kill)
        watchdog.start()
        while not text.endswith(f"{end}\n"):
            line = self.process.stdout.readline()
            assert line, "".join(self.said)
            text += line
        watchdog.cancel()
        self.note()
        return text

    def note(self):
        """Remember which processes belong to it now."""
        self.seen |= descendants_of(self.pid)

    def child(self, part):
        """Give the process id of the child whose command line holds `part`, None if there is none."""
        return next((pid for pid, command in children_of(self.pid).items() if part in command), None)

    def stop(self, number=signal.SIGTERM, seconds=STOP_S):
        """Ask it to stop, and give its exit status; fails if it or any process of its lives on."""
        self.note()
        self.process.send_signal(number)
        status = self.process.wait(timeout=seconds)
        self.assert_gone()
        return status

    def assert_gone(self, seconds=10.0):
        wait_until(lambda: not self.left(), seconds, f"left behind: {self.left()}")

    def left(self):
        return {pid: command_of(pid) for pid in self.seen if state_of(pid) != "Z"}

    def close(self):
        self.seen |= descendants_of(self.pid)
        with contextlib.suppress(ProcessLookupError):  # it has ended by itself
            self.process.kill()
        self.process.wait(timeout=10)
        for pid in self.seen:
            with contextlib.suppress(ProcessLookupError):  # so has it
                os.kill(pid, signal.SIGKILL)
        self._reader.join(timeout=10)
        self.process.stdout.close()
        self.process.stderr.close()
