from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from service.launch import child as keeping
from service.launch.child import Child

SLEEPER = [sys.executable, "-c", "import time; time.sleep(60)"]
PARENT = """
import subprocess, sys, time
print(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]).pid, flush=True)
time.sleep(60)
"""


@pytest.fixture
def make():
    made = []

    def build(command, **more):
        said = []
        made.append(Child("the child", command, os.environ, tell=said.append, **more))
        return made[-1], said

    yield build
    for each in made:
        each.reap()


def await_end(child):
    ends = time.monotonic() + 20
    while not child.is_gone:
        assert time.monotonic() < ends
        time.sleep(0.005)


def test_child_that_was_killed_is_started_again(make):
    child, said = make(SLEEPER)
    child.start()
    first = child.pid
    os.kill(first, signal.SIGKILL)
    await_end(child)
    child.look()
    assert said == [f"the child (process {first}) was killed by SIGKILL, starting it again"]
    assert child.pid is None
    ends = time.monotonic() + 5
    while child.pid is None:
        assert time.monotonic() < ends
        child.look()
    assert child.pid != first


def test_child_that_ran_long_is_started_again_at_once(make, monkeypatch):
    monkeypatch.setattr(keeping, "STEADY_S", 0.0)
    child, _ = make(SLEEPER)
    child.start()
    first = child.pid
    os.kill(first, signal.SIGKILL)
    await_end(child)
    child.look()
    child.look()
    assert child.pid not in {None, first}


def test_child_that_dies_again_and_again_waits_longer_and_says_so(make, monkeypatch):
    monkeypatch.setattr(keeping, "FIRST_PAUSE_S", 0.001)
    child, said = make([sys.executable, "-c", "raise SystemExit(3)"])
    child.start()
    ends = time.monotonic() + 30
    while len(said) < keeping.OFTEN:
        assert time.monotonic() < ends
        child.look()
        time.sleep(0.002)
    assert all(line.endswith("ended with status 3, starting it again") for line in said[:-1])
    assert "ended with status 3, for the 5th time in a row soon after its start; next try in" in said[-1]


def test_pauses_double_up_to_the_longest(make):
    child, _ = make(SLEEPER)
    pauses = []
    for deaths in range(12):
        child._early_deaths = deaths
        pauses.append(child._pause())
    assert pauses[:4] == [0.0, 0.25, 0.5, 1.0]
    assert pauses[-1] == keeping.LONGEST_PAUSE_S


def test_child_goes_with_all_that_it_started(make, capfd):
    child, _ = make([sys.executable, "-c", PARENT])
    child.start()
    ends = time.monotonic() + 20
    grandchild = ""
    while not grandchild.endswith("\n"):
        assert time.monotonic() < ends
        grandchild += capfd.readouterr().out
    child.reap()
    while not is_gone(int(grandchild)):
        assert time.monotonic() < ends
        time.sleep(0.005)


def is_gone(pid):
    """Tell whether a process has ended; a zombie that nobody has looked at has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_child_that_is_asked_stops(make):
    child, _ = make(SLEEPER)
    child.start()
    child.ask_to_stop()
    await_end(child)
    assert child.is_gone
    child.ask_to_stop()
    child.kill()
