from __future__ import annotations

import pytest

from tests.service.thinking.asked import Asked


@pytest.fixture
def make_pool():
    """Make pools that are asked and waited for; none outlives the test."""
    made = []

    def make(size=1, **options):
        made.append(Asked(size, **options))
        return made[-1]

    yield make
    for asked in made:
        asked.pool.close(10.0)
