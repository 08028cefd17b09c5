"""docs/operations.md lists all that the doctor may find, as service/doctor/kinds.py has it. As a script: the table."""

from __future__ import annotations

import sys
from pathlib import Path

from service.doctor.kinds import ADVICE
from service.doctor.place import BY_URL
from service.doctor.showing import words

ROOT = Path(__file__).parents[2]


def rows():
    """Give a row of the table for each word."""
    for code, advice in ADVICE.items():
        run = words(advice.run or "", {**BY_URL, "first": "ID"})
        yield f"| `{code}` | {advice.severity} | {advice.what} | {advice.heals or ''} | {run} |"


def test_all_that_may_be_found_is_listed_with_its_advice():
    section = (ROOT / "docs/operations.md").read_text().partition("\n## Doctor\n")[2].partition("\n## ")[0]
    assert [line for line in section.splitlines() if line.startswith("| `")] == list(rows())


def test_whoever_finds_something_is_told_what_becomes_of_it():
    assert [code for code, advice in ADVICE.items() if not (advice.heals or advice.run)] == []


if __name__ == "__main__":
    sys.stdout.write("\n".join(rows()) + "\n")
