"""`slagveld demo`: a short night in this process, and an interrupted one in its own."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
import tempfile

import pytest
from rich.console import Console

from bot_sdk.bots import house
from bot_sdk.games import record
from bot_sdk.games.registry import RULESETS
from bot_sdk.local import Match, in_process, play
from service.launch import demo
from service.launch.report import Report, Screen
from tests.integration.running import SLAGVELD, START_S, children_of, descendants_of, state_of, wait_until

SHORT = (
    demo.Event("Seven Up", "seven_up", rounds=3, table_size=2, deals="field", options={"target": 3}),
    demo.Event("River", "river", rounds=1, table_size=4, deals="fresh", options={"start_cards": 2}),
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Give the folder that the demo makes its own in."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_short_night(folder, monkeypatch):
    monkeypatch.setattr(demo, "EVENTS", SHORT)
    monkeypatch.setattr(demo, "BOTS", ("by_the_book", "bold", "cautious", "dice"))
    out, err = io.StringIO(), io.StringIO()
    before = children_of(os.getpid())
    assert demo.run(Screen(Console(file=out, width=120), Console(file=err, width=120)))
    text = out.getvalue()
    assert re.search(
        r"^10 games, [\d,]+ decisions over HTTP in [\d.]+ s: [\d,]+ decisions per second$", text, re.MULTILINE
    )
    assert "all 10 records verified" in text
    assert re.search(r"│ by_the_book +│ +3 │ +\d │ +[\d.]+ \[[\d.]+, [\d.]+\] │", text)
    assert "Decisions by outcome" in text
    assert "curl -s http://127.0.0.1:8000/v1/games" in text
    assert "Seven Up: 6 of 6 games" in err.getvalue()
    assert "River: 4 of 4 games" in err.getvalue()
    assert list(folder.iterdir()) == []
    assert children_of(os.getpid()) == before


def test_interrupted_night_leaves_nothing(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", SLAGVELD, "demo"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    try:
        wait_until(lambda: len(descendants_of(process.pid)) >= 10, START_S, "no arena and bots")
        started = descendants_of(process.pid)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait(timeout=5)
    assert process.returncode == 130
    assert said.endswith("stopped, nothing is left\n")
    wait_until(lambda: all(state_of(pid) == "Z" for pid in started), 1, "processes left behind")
    assert list(tmp_path.iterdir()) == []


def test_record_that_does_not_hold_is_not_fine(line_of_a_game):
    report = Report()
    assert not report.is_fine
    report.take([line_of_a_game])
    assert report.is_fine
    assert report.decisions > 0
    report.take([line_of_a_game.replace(b'"places":[1,', b'"places":[2,', 1)])
    assert not report.is_fine
    assert len(report.refused) == 1


@pytest.fixture
def line_of_a_game():
    """Give the record of a game between two house bots, whose first seat won."""
    players = [in_process(house("house:greedy")), in_process(house("house:random"))]
    lines = (record.encode(each.record) for each in play(Match(RULESETS["seven_up"]), players, games=20, seed="a"))
    return next(line for line in lines if b'"places":[1,' in line)
