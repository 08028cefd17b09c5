"""Runs every command of README.md, in its order, servers in the background, the rest in one shell."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.docs.terminals import listens_at

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
SERVERS = ("slagveld up", "slagbot serve")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def test_the_two_commands_are_targets_of_the_makefile():
    commands = re.findall(r"^make (\w+)", "".join(blocks("sh")), re.MULTILINE)
    assert set(commands) == {"demo", "test"}
    for command in commands:
        subprocess.run(["make", "-n", command], cwd=ROOT, check=True, capture_output=True)


SCRIPT = [block for block in blocks("sh") if not re.match(r"make|export PATH", block)]


@pytest.fixture(scope="module")
def arena(page_shell):
    """Run the readme's arena; give its address."""
    arena_block = next(block for block in SCRIPT if block.startswith("slagveld up"))
    return listens_at(page_shell(f"{arena_block.strip()} --port 0 --data data", in_background=True))


def test_every_command_does_what_the_readme_says(arena, page_shell):
    shell = page_shell
    servers = [block for block in SCRIPT if block.startswith(SERVERS)]
    assert len(servers) == len(SERVERS)
    _, bot_block = servers
    first, rest = SCRIPT[0], [block for block in SCRIPT[1:] if block not in servers]
    said, status = shell(first)
    assert status == 0, said
    bot = listens_at(shell(bot_block.replace("8100", "0"), in_background=True))
    said, status = shell("".join(rest).replace("http://127.0.0.1:8000", arena).replace("http://127.0.0.1:8100", bot))
    assert status == 0, said
    assert len((shell.folder / "records.jsonl").read_text().splitlines()) == 30


def test_a_river_table_works_the_same(arena, shell):
    first = next(at for at, block in enumerate(SCRIPT) if block.startswith("ARENA="))
    hand = "".join(SCRIPT[first : first + 3]).replace("http://127.0.0.1:8000", arena)
    greedy = '{"kind":"house","name":"greedy"}'
    assert hand.count('"ruleset":"seven_up"') == hand.count(greedy) == 1
    river = hand.replace('"ruleset":"seven_up"', '"ruleset":"river","options":{"start_cards":3}')
    said, status = shell(river.replace(greedy, ",".join([greedy] * 3)))
    assert status == 0, said
    record = json.loads((shell.folder / "record.json").read_text())
    assert (record["ruleset"], record["status"], len(record["deals"])) == ("river", "finished", 5)


def test_the_bot_of_the_readme_plays_both_games(tmp_path, shell):
    (tmp_path / "bot.py").write_text(blocks("python")[0])
    for ruleset in ("seven_up", "river"):
        said, status = shell(f"slagbot play bot.py:bot house:random --ruleset {ruleset} --games 2 --json")
        assert status == 0, said
        assert '"illegal"' not in said
        assert '"bad_reply"' not in said


def test_every_link_leads_somewhere():
    for target in re.findall(r"\]\((?!http)([^)#]+)", README):
        assert (ROOT / target).exists(), target
