"""One embedded Valkey for the whole test session, and an empty database for each test that asks for one."""

from __future__ import annotations

import pytest

from service.launch.valkey import EmbeddedValkey
from service.store.connection import connect


@pytest.fixture(scope="session")
def valkey(tmp_path_factory):
    with EmbeddedValkey(tmp_path_factory.mktemp("data")) as server:
        yield server


@pytest.fixture
def redis_url(valkey):
    """Give the address of an empty database; whoever connects to it shares it."""
    client = connect(valkey.url, max_connections=1)
    client.flushall()
    client.close()
    return valkey.url


@pytest.fixture
def redis(redis_url):
    client = connect(redis_url)
    yield client
    client.close()
