"""Programs of Debian's that tests need: whoever hasn't one may do without those tests, but not who checks changes."""

from __future__ import annotations

import os
import shutil

import pytest


def program(name: str, package: str) -> str:
    """Give the path of a program; without it the test is skipped, or fails where `CI` is set."""
    path = shutil.which(name)
    if path is not None:
        return path
    reason = f"expected {name}: install the package {package}"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
