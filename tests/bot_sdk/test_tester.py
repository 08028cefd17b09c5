"""The pytest plugin, in runs of pytest as authors have them, found by the entry point that pyproject.toml declares."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.installed import ROOT, environment

BOT = """
from bot_sdk import Bot

bot = Bot("mine")


@bot.on("seven_up")
def decide(decision):
    if "2S" in decision.hand:
        return missing
    return decision.legal[0] if "AS" in decision.hand else "play:ZZ"
"""
TESTS = """
from bot import bot


def test_stands(bot_tester):
    assert bot_tester(bot).answers("seven_up", phase="beg", hand="AS TH 7H 4D JC 2C") == "stand"


def test_illegal(bot_tester):
    bot_tester(bot).answers("seven_up", phase="beg", hand="KS TH 7H 4D JC 2C")


def test_raises(bot_tester):
    bot_tester(bot).answers("seven_up", phase="beg", hand="2S TH 7H 4D JC 2C")
"""
ALONE = """
import sys


def test_nothing_is_loaded_for_it():
    assert sys.modules["bot_sdk.tester"]
    assert {name for name in sys.modules if name.startswith("bot_sdk")} == {"bot_sdk", "bot_sdk.tester"}
"""


@pytest.fixture
def run(tmp_path):
    """Give a function that runs pytest on files in a folder of an author's, and gives what it printed."""
    variables = environment(tmp_path / "site")
    folder = tmp_path / "author"
    folder.mkdir()

    def run_pytest(*arguments, **files):
        for name, text in files.items():
            (folder / f"{name}.py").write_text(text)
        command = [sys.executable, "-m", "pytest", "-W", "error", "-rA", *arguments]
        ran = subprocess.run(
            command, cwd=folder, env=variables, capture_output=True, text=True, timeout=120, check=False
        )
        assert ran.stderr == ""
        return ran.stdout

    return run_pytest


def test_what_happened_is_printed_from_the_authors_test_on(run):
    said = run(bot=BOT, test_bot=TESTS)
    assert "PASSED test_bot.py::test_stands" in said
    lines = [line.split(maxsplit=2) for line in said.splitlines() if line.startswith("E ")]
    assert ["E", "bot_sdk.testing.BotFault:", "expected a legal action, got 'play:ZZ'"] in lines
    assert ["E", "hand", "2C JC 4D 7H TH KS"] in lines
    assert ["E", "legal", "stand beg"] in lines
    assert ["E", "chosen", "play:ZZ"] in lines
    assert ["E", "NameError:", "name 'missing' is not defined"] in lines
    assert "bot.py:10: NameError" in said
    assert str(ROOT / "bot_sdk") not in said  # no frame of ours is between the author's


def test_a_run_without_it_is_as_before(run):
    assert "1 passed" in run(test_alone=ALONE)
    with_it, without = run("--fixtures", "-q"), run("--fixtures", "-q", "-p", "no:bot_tester")
    assert "bot_tester [session scope]" in with_it
    assert "bot_tester" not in without


def test_the_plugin_itself_loads_nothing_but_pytest():
    program = (
        "import pytest, sys; before = set(sys.modules); import bot_sdk.tester; more = set(sys.modules) - before;"
        "print(sorted(name for name in more if name.partition('.')[0] not in sys.stdlib_module_names))"
    )
    command = [sys.executable, "-c", program]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout == "['bot_sdk', 'bot_sdk.tester']\n"


def test_it_needs_none_of_pytests_own_plugins(run):
    said = run(
        *(f"-pno:{name}" for name in ("cacheprovider", "logging", "doctest", "junitxml", "tmpdir")),
        bot=BOT,
        test_bot=TESTS,
    )
    assert "1 passed" in said
    assert "2 failed" in said


def test_it_works_in_processes_of_xdist(run):
    said = run("-n", "1", "--dist", "loadfile", bot=BOT, test_bot=TESTS)
    assert "1 passed" in said
    assert "expected a legal action, got 'play:ZZ'" in said
