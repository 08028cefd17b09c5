"""Tries each promised Python with the lowest and the newest versions of all we depend on.

``python -m releasing.matrix`` tries them all, ``python -m releasing.matrix 3.11-lowest`` that one. A Python that isn't
on this machine comes with a newer Debian in a folder, if it can be set up. All that is made stays in ``.venv-matrix``.
The exit status is 0 if all went well, 1 if tests failed, or if a Python that was asked for by name can't be had.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from uv import find_uv_bin

from releasing import debian, pythons

FOLDER: Final = pythons.ROOT / ".venv-matrix"
RESOLUTIONS: Final = {"lowest": "lowest-direct", "newest": "highest"}
WHAT: Final = ".[service,dev]"
TESTS: Final = (
    "tests/bot_sdk/checking",
    "tests/bot_sdk/commands",
    "tests/bot_sdk/envs",
    "tests/bot_sdk/results",
    "tests/bot_sdk/test_bot.py",
    "tests/bot_sdk/test_cli.py",
    "tests/bot_sdk/test_client.py",
    "tests/bot_sdk/test_hosting.py",
    "tests/bot_sdk/test_local.py",
    "tests/bot_sdk/test_messages.py",
    "tests/bot_sdk/test_public.py",
    "tests/bot_sdk/test_replies.py",
    "tests/bot_sdk/test_tester.py",
    "tests/service/api/test_games.py",
    "tests/service/api/test_gunicorn.py",
    "tests/service/api/test_problems.py",
    "tests/service/api/test_specification.py",
    "tests/service/api/test_stream.py",
    "tests/service/fit",
    "tests/service/launch",
    "tests/service/store",
    "tests/service/test_cli.py",
    "tests/service/test_organising.py",
    "tests/integration/test_demo.py",
    "tests/integration/test_matches.py",
)
"""What is run of the suite: whatever others' versions can break, an arena with everything real, and a demo."""
PATIENCE_S: Final = 1800


@dataclass(frozen=True, slots=True)
class Cell:
    """A Python and which versions it is tried with."""

    version: str
    resolution: str

    @property
    def name(self) -> str:
        """Such as ``3.11-lowest``."""
        return f"{self.version}-{self.resolution}"


@dataclass(frozen=True, slots=True)
class Place:
    """Where an interpreter runs: on this machine, or in a Debian on it."""

    interpreter: Path
    debian: debian.Debian | None = None

    def run(self, arguments: Sequence[str | Path], environment: dict[str, str]) -> int:
        """Run a command where the interpreter is and give its exit status; what it prints is printed."""
        command = self.debian.command(arguments) if self.debian else [str(each) for each in arguments]
        return subprocess.run(command, cwd=pythons.ROOT, env=environment, timeout=PATIENCE_S, check=False).returncode


CELLS: Final = tuple(itertools.starmap(Cell, itertools.product(pythons.promised(), RESOLUTIONS)))


def chosen(names: Sequence[str]) -> list[Cell]:
    """Give the cells of these names; raises `ValueError` for a name that none has."""
    by_name = {cell.name: cell for cell in CELLS}
    if unknown := [name for name in names if name not in by_name]:
        raise ValueError(f"expected some of {', '.join(by_name)}, got {', '.join(unknown)}")
    return [by_name[name] for name in names]


def place(version: str, environment: dict[str, str]) -> Place:
    """Find an interpreter, or set up a Debian that has it; raises `debian.DebianError` if neither can be done."""
    if found := pythons.find(version, environment):
        return Place(found)
    if version not in debian.VERSIONS:
        raise debian.DebianError(f"expected python{version} on this machine, found none")
    inside = debian.bootstrapped(FOLDER / debian.CODENAME, pythons.ROOT, environment)
    inside.add(Path(find_uv_bin()))
    return Place(Path("/usr/bin") / f"python{version}", inside)


def steps(cell: Cell, at: Place) -> list[list[str | Path]]:
    """Give the commands that try a cell: a fresh environment, what is installed in it, the tests."""
    uv = "uv" if at.debian else find_uv_bin()
    environment = FOLDER / cell.name
    python = environment / "bin" / "python"
    processes = str((os.cpu_count() or 1) + 1)
    return [
        [uv, "venv", "--quiet", "--clear", "--python", at.interpreter, environment],
        [uv, "pip", "install", "--quiet", "--python", python,
         "--resolution", RESOLUTIONS[cell.resolution], "--editable", WHAT],
        [python, "-m", "pytest", "-p", "no:cacheprovider", "--numprocesses", processes, "--dist", "loadfile", *TESTS],
    ]  # fmt: skip


def tried(cell: Cell, environment: dict[str, str]) -> tuple[bool | None, str]:
    """Try a cell; give whether all went well, None if its Python can't be had, and a line on it."""
    try:
        at = place(cell.version, environment)
    except debian.DebianError as error:
        return None, f"not here: {error}"
    began = time.monotonic()
    for step in steps(cell, at):
        if status := at.run(step, environment):
            return False, f"status {status} of {' '.join(str(each) for each in step[:4])} …"
    return True, f"passed after {time.monotonic() - began:.0f} s"


def main(names: Sequence[str]) -> int:
    """Try these cells, or all, and print how each went; give the exit status."""
    try:
        cells = chosen(names) or CELLS
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    FOLDER.mkdir(exist_ok=True)
    ours = ("PYTEST_", "PYTHON", "SLAGVELD_", "REDIS_URL", "VIRTUAL_ENV")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    lines = []
    for cell in cells:
        print(f"== {cell.name}", flush=True)
        well, line = tried(cell, environment | {"UV_PYTHON_DOWNLOADS": "never", "UV_LINK_MODE": "copy"})
        lines.append((well, f"{cell.name}: {line}"))
    print("", *(line for _, line in lines), sep="\n", flush=True)
    accepted = (True,) if names else (True, None)
    return int(any(well not in accepted for well, _ in lines))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
