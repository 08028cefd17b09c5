"""What an installed distribution tells pytest of our plugin, where this one is run from its sources."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def environment(site: Path) -> dict[str, str]:
    """Give the variables of a process that finds this code, and the entry points that pyproject.toml declares.

    They are written to `site` as an installer does. Settings of this run, of pytest or of the arena, don't reach it,
    nor do pytest's plugins that are large and only ours.
    """
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    installed = site / "declared-0.dist-info"
    installed.mkdir(parents=True)
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: declared\nVersion: 0\n")
    lines = [
        f"[{group}]\n" + "".join(f"{name} = {at}\n" for name, at in points.items())
        for group, points in declared.items()
    ]
    (installed / "entry_points.txt").write_text("".join(lines))
    ours = ("PYTEST_", "SLAGVELD_", "REDIS_URL")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    unplugged = " ".join(f"-p no:{plugin}" for plugin in ("schemathesis", "hypothesispytest"))
    return {**kept, "PYTHONPATH": f"{site}{os.pathsep}{ROOT}", "PYTEST_ADDOPTS": unplugged}
