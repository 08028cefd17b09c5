"""docs/settings.md lists every setting as service/config.py declares it. Run as a script, this prints the table."""

from __future__ import annotations

import ast
import dataclasses
import sys
from itertools import pairwise
from pathlib import Path

from service.config import Settings

ROOT = Path(__file__).parents[2]


def rows():
    """Give a row of the table for each setting: its variable, its default, the string below it in the source."""
    tree = ast.parse((ROOT / "service/config.py").read_text())
    body = next(node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Settings")
    meaning = {
        field.target.id: below.value.value
        for field, below in pairwise(body)
        if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr)
    }
    for field in dataclasses.fields(Settings):
        default = (
            ""
            if field.default in ("", (), None)
            else f"`{int(field.default) if field.default is False else field.default}`"
        )
        yield f"| `{field.metadata['variable']}` | {default} | {' '.join(meaning[field.name].split())} |"


def test_every_setting_is_listed_with_its_default():
    text = (ROOT / "docs/settings.md").read_text()
    assert [line for line in text.splitlines() if line.startswith("| `")] == list(rows())


if __name__ == "__main__":
    sys.stdout.write("\n".join(rows()) + "\n")
