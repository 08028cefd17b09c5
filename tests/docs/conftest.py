"""A reader's terminal, for the tests of what the documents say."""

from __future__ import annotations

from contextlib import closing

import pytest

from tests.docs.terminals import Shell


@pytest.fixture
def shell(tmp_path):
    """Give a function that runs a script in a folder of its own, with the commands of this environment."""
    with closing(Shell(tmp_path)) as opened:
        yield opened


@pytest.fixture(scope="module")
def page_shell(tmp_path_factory):
    """Give such a function to all tests of a page: what runs in its background serves them all."""
    with closing(Shell(tmp_path_factory.mktemp("page"))) as opened:
        yield opened
