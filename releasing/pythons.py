"""The Pythons that are promised, and where on this machine each of them is. Nothing is installed here."""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from uv import find_uv_bin

ROOT: Final = Path(__file__).parents[1]
_PROMISE: Final = re.compile(r"Programming Language :: Python :: (3\.\d+)")
PATIENCE_S: Final = 60


def promised(root: Path = ROOT) -> list[str]:
    """List the versions that the classifiers name, such as ``3.11``, oldest first."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = [match[1] for each in project["classifiers"] if (match := _PROMISE.fullmatch(each))]
    return sorted(found, key=lambda version: int(version.partition(".")[2]))


def find(version: str, environment: Mapping[str, str]) -> Path | None:
    """Find an interpreter of that version that runs, by uv: on PATH, or among those it keeps; None if there is none.

    A name on PATH without that Python behind it is passed over, and so are virtual environments.
    """
    asked = [find_uv_bin(), "python", "find", "--system", "--no-project", "--no-config", version]
    own = {**environment, "UV_PYTHON_DOWNLOADS": "never"}
    ran = subprocess.run(asked, env=own, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    return Path(ran.stdout.strip()) if ran.returncode == 0 else None
