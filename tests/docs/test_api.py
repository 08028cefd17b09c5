"""Runs docs/api.md: its servers in the background, the rest of the shell in one shell, the Python in one program."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from bot_sdk.client import Arena
from tests.docs.terminals import listens_at

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "api.md").read_text()
UP, SERVE, NEW, *SHELL = re.findall(r"^```sh\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
PYTHON = re.findall(r"^```python\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def told(page_shell):
    """Run the servers, then a script against them; give what it says if it ends well."""
    assert (UP.split()[:2], SERVE.split()[:2], NEW.split()[:2]) == (
        ["slagveld", "up"],
        ["slagbot", "serve"],
        ["slagbot", "new"],
    )
    shell = page_shell
    arena_told = shell(f"{UP.strip()} --port 0 --data data --workers 1", in_background=True)
    said, status = shell(NEW)
    assert status == 0, said
    bot = listens_at(shell(SERVE.replace("8100", "0"), in_background=True))
    arena = listens_at(arena_told)

    def run(script):
        said, status = shell(script.replace("http://127.0.0.1:8000", arena).replace("http://127.0.0.1:8100", bot))
        assert status == 0, said
        return said

    return run


def test_the_guide_does_by_curl_what_it_says(told):
    said = told("".join(SHELL))
    assert '"name": "ci"' in said or '"name":"ci"' in said
    assert "\nactive\npaused\nactive\n" in said
    assert "seats.0.kind" in said
    assert len(re.findall(r"^[1-4]/4  (?:won|place 2|tied) +seat [01] against greedy", said, re.MULTILINE)) == 4
    assert re.search(r"^lowball won \S+ .*of 4 games$", said, re.MULTILINE)
    assert re.search(r"its latest \d+ decisions, since .*: ok \d+$", said, re.MULTILINE)
    assert said.index("is paused\n") < said.rindex("is active\n")


def test_the_guide_does_by_the_client_what_it_says(told):
    program = "".join(PYTHON)
    compile(program, "docs/api.md", "exec")
    said = told(f"{sys.executable} - <<'END'\n{program}\nEND\n")
    assert "challenge ok" in said
    assert "finished" in said


def test_each_thing_is_shown_both_ways():
    sections = re.split(r"^## ", GUIDE, flags=re.MULTILINE)[2:-1]
    assert len(sections) >= 7
    for section in sections:
        assert "```sh" in section, section[:40]
        assert "```python" in section, section[:40]


def test_codes_of_the_guide_are_codes_of_the_arena():
    table = GUIDE[GUIDE.index("| code | |") :]
    codes = {code for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for code in re.findall(r"`(\w+)`", row)}
    source = "".join(file.read_text() for part in ("api", "arena") for file in (ROOT / "service" / part).glob("*.py"))
    assert len(codes) > 10
    assert {code for code in codes if f'"{code}"' not in source} == set()


def test_methods_that_the_guide_names_are_methods_of_the_client():
    operator = GUIDE[GUIDE.index("## For the operator") :]
    named = set(re.findall(r"`([a-z_]+)`", operator))
    assert len(named) >= 10
    assert {name for name in named if not hasattr(Arena, name)} == set()


def test_every_link_leads_somewhere():
    for target in re.findall(r"\]\((?!http)([^)#]+)", GUIDE):
        assert (ROOT / "docs" / target).exists(), target
