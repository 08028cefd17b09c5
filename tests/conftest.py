"""One embedded Valkey for the whole test session, and an empty store for each test that asks for one."""

from __future__ import annotations

import pytest

from service.launch.valkey import EmbeddedValkey
from service.store.connection import connect
from service.store.store import Store


@pytest.fixture(scope="session")
def valkey(tmp_path_factory):
    with EmbeddedValkey(tmp_path_factory.mktemp("data")) as server:
        yield server


@pytest.fixture
def redis_url(valkey):
    """Give the address of an empty database 0; the other databases of the server are empty, too."""
    client = connect(valkey.url, max_connections=1)
    client.flushall()
    client.close()
    return valkey.url


@pytest.fixture
def redis(redis_url):
    client = connect(redis_url)
    yield client
    client.close()


@pytest.fixture
def store(redis_url):
    opened = Store.open(redis_url)
    yield opened
    opened.close()
