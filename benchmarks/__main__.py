"""Runs the benchmarks: ``python -m benchmarks [SUBJECT ...]``, all of them by default.

Prints a table of ratios as it grows and writes ``benchmarks/results.json``. The exit status is 1 if a target was
missed, 2 if there is no such subject.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, cast

from benchmarks.harness import FULL, Effort, Line, Row, Subject
from benchmarks.report import Table, as_json

SUBJECTS: Final = (
    "engine",
    "worker",
    "connectx",
    "growth",
    "packed",
    "memory",
    "store",
    "sweep",
    "two_workers",
    "late_bot",
    "api",
    "moves",
    "swiss",
)
RESULTS: Final = Path(__file__).with_name("results.json")


def main(names: list[str], effort: Effort = FULL, results: Path = RESULTS) -> int:
    """Measure, print and write; give the exit status."""
    if unknown := sorted(set(names) - set(SUBJECTS)):
        print(f"expected subjects among {', '.join(SUBJECTS)}, got {', '.join(unknown)}", file=sys.stderr)
        return 2
    lines: list[tuple[str, Line]] = []
    with Table() as table:
        for name, line in measured(names or list(SUBJECTS), effort):
            lines.append((name, line))
            table.add(name, line)
            results.write_text(as_json(lines))  # each time: what was measured stays, should a later subject break
    return int(any(isinstance(line, Row) and line.is_met is False for _, line in lines))


def measured(names: list[str], effort: Effort) -> Iterator[tuple[str, Line]]:
    """Measure the subjects one after the other; give each row with its subject."""
    for name in names:
        for line in cast("Subject", importlib.import_module(f"benchmarks.{name}")).rows(effort):
            yield name, line


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
