"""docs/operations.md tells of every field that a line may have."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path

from service.logs import lines

PAGE = (Path(__file__).parents[2] / "docs" / "operations.md").read_text()


def test_the_page_lists_the_fields_of_a_line():
    section = PAGE.partition("\n## Logs\n")[2].partition("\n## ")[0]
    listed = {
        name for row in re.findall(r"^\| (`.*?) \|", section, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)
    }
    always = json.loads(lines.JsonLine().format(logging.LogRecord("x", logging.INFO, "x", 1, "x", None, None)))
    assert listed == {*always, *lines.FIELDS, "error"}


def test_the_line_that_it_shows_is_one():
    (shown,) = re.findall(r'^\{"time":.*\}$', PAGE, re.MULTILINE)
    assert list(json.loads(shown)) == [
        "time", "level", "logger", "process", "pid", "message", "request_id", "game_id",
        "method", "route", "status", "ms", "bytes", "client",
    ]  # fmt: skip
