from __future__ import annotations

import pytest

from tests.service.bench import Desk, Worker
from tests.service.fakes import FakeCalls


@pytest.fixture
def calls():
    return FakeCalls()


@pytest.fixture
def worker(store, calls):
    return Worker(store, calls)


@pytest.fixture
def make_worker(store):
    def make(calls=None, **changes):
        return Worker(store, calls or FakeCalls(), **changes)

    return make


@pytest.fixture
def desk(store):
    return Desk(store)
