"""Workers whose bots answer by script, on the real store."""

from __future__ import annotations

import pytest

from tests.service.bench import Desk, Worker
from tests.service.fakes import FakeCalls


@pytest.fixture
def desk(store):
    return Desk(store)


@pytest.fixture
def calls():
    return FakeCalls()


@pytest.fixture
def worker(store, calls):
    return Worker(store, calls)
