"""The process that thinks, by itself: what ends it, and what doesn't."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from bot_sdk import messages
from service.thinking.frames import Question, Thought, framed, read
from tests.service.thinking.asked import DECISIONS, KEY

ROOT = Path(__file__).parents[3]
BOT = """
import time
import service.thinking.__main__ as thinking

class Bot:
    def answer(self, decision, key):
        {does}

thinking.house = lambda _bot_id: Bot()
thinking.main()
"""


@pytest.fixture
def start():
    """Start a process, with another bot in it if that is said, and read that it is ready."""
    started = []

    def start(does=None):
        command = ["-m", "service.thinking"] if does is None else ["-c", BOT.format(does=does)]
        child = subprocess.Popen(
            [sys.executable, *command], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        started.append(child)
        assert read(child.stdout) == b""
        return child

    yield start
    for child in started:
        child.kill()
        child.wait(timeout=10)
        for pipe in (child.stdin, child.stdout, child.stderr):
            pipe.close()


def ask(child, longest_s=60.0):
    question = Question("house:greedy", KEY, longest_s, msgspec.Raw(messages.encode(DECISIONS[0])))
    child.stdin.write(framed(msgspec.json.encode(question)))
    child.stdin.flush()


def thought(child):
    return msgspec.json.decode(read(child.stdout), type=Thought)


def test_it_ends_when_nobody_can_ask_any_more(start):
    child = start()
    child.stdin.close()
    assert child.wait(timeout=20) == 0


def test_signals_that_are_for_the_worker_do_not_end_it(start):
    child = start()
    for number in (signal.SIGTERM, signal.SIGINT):
        os.kill(child.pid, number)
    ask(child)
    assert thought(child).reply


def test_a_bot_that_never_comes_to_an_end_takes_the_process_with_it_though_no_worker_is_left(start):
    child = start(does="while True: pass")
    ask(child, longest_s=0.2)
    assert child.wait(timeout=20) == -signal.SIGALRM


def test_a_deadline_is_for_its_decision_only(start):
    child = start()
    ask(child, longest_s=1.5)
    assert thought(child).reply
    with pytest.raises(subprocess.TimeoutExpired):
        child.wait(timeout=2.0)
    ask(child)
    assert thought(child).reply


def test_what_a_bot_prints_is_no_thought(start):
    child = start(does="print('hm'); return thinking.messages.ActionReply(decision_id='x', action='bid:0')")
    ask(child)
    assert thought(child) == Thought('{"decision_id":"x","action":"bid:0"}')
    child.stdin.close()
    assert child.stderr.read() == b"hm\n"


def test_what_a_bot_raises_is_told_by_its_name_alone(start):
    child = start(does="raise ValueError('of a hidden card')")
    ask(child)
    assert thought(child) == Thought(None, "house:greedy broke: ValueError")


def test_it_goes_behind_those_that_keep_deadlines(start):
    child = start()
    assert os.getpriority(os.PRIO_PROCESS, child.pid) > os.getpriority(os.PRIO_PROCESS, 0)
