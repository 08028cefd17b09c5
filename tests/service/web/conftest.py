"""The real app on a real store, and tournaments from a pen."""

from __future__ import annotations

import pytest

from tests.service.api.conftest import app, client, make_app, queue  # noqa: F401 - fixtures
from tests.service.web.penned import Pen


@pytest.fixture
def pen(store):
    return Pen(store)
