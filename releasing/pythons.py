"""The Pythons that are promised, and where on this machine each of them is. Nothing is installed here."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
_PROMISE: Final = re.compile(r"Programming Language :: Python :: (3\.\d+)")
_ASK: Final = "import ensurepip, sys; print('{}.{}'.format(*sys.version_info))"
PATIENCE_S: Final = 60


def promised(root: Path = ROOT) -> list[str]:
    """List the versions that the classifiers name, such as ``3.11``, oldest first."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = [match[1] for each in project["classifiers"] if (match := _PROMISE.fullmatch(each))]
    return sorted(found, key=lambda version: int(version.partition(".")[2]))


def find(version: str, environment: Mapping[str, str]) -> Path | None:
    """Find an interpreter of that version that runs and can make virtual environments; None if there is none.

    Looked through are the folders of PATH, then what pyenv and uv keep.
    """
    return next((path for path in candidates(version, environment) if _is(path, version)), None)


def candidates(version: str, environment: Mapping[str, str]) -> Iterator[Path]:
    """Give the files that are named as an interpreter of that version is; some may be no more than a name."""
    home = Path(environment.get("HOME", "/"))
    pyenv = Path(environment.get("PYENV_ROOT") or home / ".pyenv") / "versions"
    kept_by_uv = home / ".local" / "share" / "uv" / "python"
    on_path = (Path(folder) for folder in environment.get("PATH", "").split(os.pathsep) if folder)
    kept = (*sorted(pyenv.glob(f"{version}.*/bin")), *sorted(kept_by_uv.glob(f"cpython-{version}.*/bin")))
    for folder in itertools.chain(on_path, kept):
        path = folder / f"python{version}"
        if path.is_file() and os.access(path, os.X_OK):
            yield path


def _is(path: Path, version: str) -> bool:
    try:
        ran = subprocess.run([path, "-c", _ASK], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return ran.returncode == 0 and ran.stdout.strip() == version
