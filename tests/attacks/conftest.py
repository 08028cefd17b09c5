"""The arena that is attacked: the app of tests/service/api on the real store, one for all tests of a module."""

from __future__ import annotations

from itertools import count

import pytest

from service.app import create_app
from service.config import Settings
from service.services import open_services
from tests.attacks.world import ADMIN, Builder
from tests.service.api.conftest import PATIENT, HeldQueue, make_app, night, queue

__all__ = ["make_app", "night", "queue"]  # fixtures

ADDRESSES = pytest.StashKey()
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
def open_arena(valkey):
    """Build apps for all tests of a module, each another process of one arena, open but for what is given."""
    built = []

    def build(**environment):
        settings = Settings.from_env(OPEN | {"REDIS_URL": valkey.url} | environment)
        built.append(open_services(settings, HeldQueue()))
        return create_app(built[-1])

    yield build
    for services in built:
        services.close()


@pytest.fixture(scope="module")
def arena(open_arena):
    """Give the app of a module."""
    return open_arena()


@pytest.fixture(scope="module")
def builder(arena):
    return Builder(arena)


@pytest.fixture(scope="module")
def shared(builder):
    """Give a world to tests that change nothing of it that others need."""
    return builder.world()


@pytest.fixture
def address(request):
    """Give an address from which nobody has asked yet."""
    return next_address(request)


def next_address(request):
    """Give addresses that nobody has, one after the other."""
    return next(request.config.stash.setdefault(ADDRESSES, (f"10.1.{n // 250}.{n % 250 + 1}" for n in count())))
