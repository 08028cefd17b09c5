"""One embedded Valkey for the whole test session, and an empty store for each test that asks for one.

Hypothesis tries the same examples on every run.
"""

from __future__ import annotations

import gc

import pytest
from hypothesis import HealthCheck, settings
from werkzeug.routing import Rule

from service.launch.valkey import EmbeddedValkey
from service.store.connection import connect
from service.store.store import Store

for name, examples in (("short", 50), ("long", 500)):  # `make soak` chooses the long one
    settings.register_profile(
        name,
        deadline=None,  # on a busy machine
        derandomize=True,
        max_examples=examples,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
settings.load_profile("short")


def pytest_collection():
    """Look for no garbage while thousands of tests are collected: that was two fifths of what collecting costs."""
    gc.disable()


def pytest_collection_finish():
    """Leave what was collected out of all later looks for garbage, since it stays."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def valkey(tmp_path_factory):
    with EmbeddedValkey(tmp_path_factory.mktemp("data")) as server:
        yield server


@pytest.fixture(scope="session")
def _emptier(valkey):
    client = connect(valkey.url, max_connections=1)
    yield client
    client.close()


@pytest.fixture
def redis_url(valkey, _emptier):
    """Give the address of an empty database 0; the other databases of the server are empty, too."""
    _emptier.flushall()
    yield valkey.url
    _emptier.flushall()  # those who serve a whole module don't ask for it, and would find what a test broke


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


@pytest.fixture(scope="session")
def routes_compiled_once():
    """Have werkzeug compile what makes a route's URLs once for all apps, since that is most of what an app costs."""
    compile_builder, compiled = getattr(Rule, "_compile_builder", None), {}
    if compile_builder is None:  # another werkzeug's
        yield
        return

    def remembered(rule, *which):
        key = (rule.rule, tuple(rule._trace), tuple((rule.defaults or {}).items()), *which)
        if key not in compiled:
            compiled[key] = compile_builder(rule, *which)
        return compiled[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Rule, "_compile_builder", remembered)
        yield
