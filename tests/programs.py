"""Programs of Debian's that tests need: whoever hasn't one may do without those tests, but not who checks changes."""

from __future__ import annotations

import os
import shutil
from typing import NoReturn

import pytest


def program(name: str, package: str) -> str:
    """Give the path of a program; without it the test is skipped, or fails where `CI` is set."""
    path = shutil.which(name)
    if path is None:
        do_without(name, package)
    return path


def do_without(name: str, package: str) -> NoReturn:
    """Skip the test for want of a program; fail it where `CI` is set."""
    reason = f"expected {name}: install the package {package}"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
