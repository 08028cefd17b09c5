"""What docs/tournaments.md says is what is computed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bot_sdk.results.export import read
from bot_sdk.results.recompute import differences
from bot_sdk.results.standings import method

TEXT = (Path(__file__).parents[2] / "docs/tournaments.md").read_text(encoding="utf-8")
RANKED = {
    name: re.findall(r"`(\w+)`", tiebreaks)
    for name, tiebreaks in re.findall(r"^\| ((?:Seven Up|River)[^|]*?) \| [^|]* \| ([^|]*) \|$", TEXT, re.MULTILINE)
}


def test_each_ruleset_and_format_is_there():
    assert len(RANKED) == 6


@pytest.mark.parametrize("name", RANKED)
def test_tiebreaks_are_those_in_use(name):
    title, _, form = name.partition(", ")
    ruleset = {"Seven Up": "seven_up", "River": "river"}[title]
    assert RANKED[name] == method(ruleset, form.strip("`") or "round_robin").tiebreaks


def test_every_tiebreak_is_explained():
    for tiebreak in {tiebreak for tiebreaks in RANKED.values() for tiebreak in tiebreaks}:
        assert re.search(rf"^- .*`{tiebreak}`", TEXT, re.MULTILINE), tiebreak


def test_the_export_shown_is_one_and_agrees():
    (shown,) = re.findall(r"```jsonl\n(.*?)```", TEXT, re.DOTALL)
    assert differences(read(shown.encode().splitlines(keepends=True))) == []
