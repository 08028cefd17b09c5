"""docs/faq.md explains every outcome and every fault that a check can name."""

from __future__ import annotations

import re
from pathlib import Path

from bot_sdk.checking.faults import ADVICE, Fault
from bot_sdk.events import Outcome

TEXT = (Path(__file__).parents[2] / "docs/faq.md").read_text()
HEADINGS = re.findall(r"^### (\w+)$", TEXT, re.MULTILINE)


def test_every_fault_has_its_heading_and_nothing_else_has():
    assert sorted(HEADINGS) == sorted(Fault)


def test_every_outcome_has_its_row():
    assert re.findall(r"^\| `(\w+)` \|", TEXT, re.MULTILINE) == list(Outcome)


def test_every_link_within_the_page_leads_to_a_heading():
    assert set(re.findall(r"\(#(\w+)\)", TEXT)) <= set(HEADINGS)


def test_every_fault_says_what_to_do():
    assert set(ADVICE) == set(Fault)
    for fault in Fault:
        section = TEXT.split(f"### {fault}\n")[1].split("\n### ")[0]
        assert "**Do:**" in section, fault
