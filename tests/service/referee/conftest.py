from __future__ import annotations

import pytest

from tests.service.bench import Worker
from tests.service.fakes import FakeCalls


@pytest.fixture
def make_worker(store):
    def make(calls=None, **changes):
        return Worker(store, calls or FakeCalls(), **changes)

    return make
