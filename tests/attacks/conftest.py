"""The arena that is attacked: the app of tests/service/api on the real store, one for all tests of a module."""

from __future__ import annotations

import pytest

from service.app import create_app
from service.config import Settings
from service.services import open_services
from tests.attacks.world import ADMIN, Builder
from tests.service.api.conftest import PATIENT, HeldQueue, make_app, night, queue

__all__ = ["make_app", "night", "queue"]  # fixtures

OPEN = {
    "SLAGVELD_ACCOUNTS": "open",
    "SLAGVELD_ANONYMOUS_GAMES": "1",
    "SLAGVELD_BOT_NETWORKS": "127.0.0.0/8",
    "SLAGVELD_ADMIN_TOKEN": ADMIN,
    "SLAGVELD_MAX_OPEN_GAMES": "100000",
    "SLAGVELD_RATE_PER_ADDRESS": PATIENT,
    "SLAGVELD_RATE_PER_TOKEN": PATIENT,
    "SLAGVELD_RATE_NEW_ACCOUNTS": PATIENT,
}
"""An arena in which anybody may do what he likes, as often as he likes."""


@pytest.fixture(scope="module")
def arena(valkey):
    """Give the app of a module."""
    services = open_services(Settings.from_env(OPEN | {"REDIS_URL": valkey.url}), HeldQueue())
    yield create_app(services)
    services.store.close()


@pytest.fixture(scope="module")
def builder(arena):
    return Builder(arena)


@pytest.fixture
def world(builder, redis_url):
    """Give a world of its own to a test: nothing else is in the store."""
    return builder.world()
