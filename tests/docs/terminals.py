"""What tests of documents that are run have in common, besides the fixture `shell`."""

from __future__ import annotations

import re
import time

import pytest


def listens_at(told):
    """Wait until a server says where it listens."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        said = re.search(r"http://127\.0\.0\.1:\d+", told.read_text())
        if said:
            return said[0]
        time.sleep(0.05)
    pytest.fail(told.read_text())
