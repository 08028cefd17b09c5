"""A reader's terminal, for the tests of what the documents say."""

from __future__ import annotations

import pytest

from tests.docs.terminals import Shell


@pytest.fixture
def shell(tmp_path):
    """Give a function that runs a script in a folder of its own, with the commands of this environment."""
    opened = Shell(tmp_path)
    yield opened
    opened.close()
