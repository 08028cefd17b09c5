"""docs/metrics.md lists every metric as service/metrics/catalogue.py has it. Run as a script, this prints the table."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.metrics.catalogue import METRICS

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs/metrics.md").read_text()
ENDS = ("", "_bucket", "_count", "_sum")


def rows() -> Iterator[str]:
    """Give a row of the table for each metric."""
    for each in METRICS:
        labels = ", ".join(f"`{label}`" for label in each.labels)
        yield f"| `{each.name}` | {each.kind} | {labels} | {each.help} |"


def test_every_metric_is_listed_as_it_is():
    assert [line for line in TEXT.splitlines() if line.startswith("| `slagveld_")] == list(rows())


@pytest.mark.parametrize("query", re.findall(r"^    (.*slagveld_.*)$", TEXT, re.MULTILINE))
def test_example_queries_ask_for_metrics_that_there_are(query):
    assert set(re.findall(r"slagveld_\w+", query)) <= {each.name + end for each in METRICS for end in ENDS}


if __name__ == "__main__":
    sys.stdout.write("\n".join(rows()) + "\n")
