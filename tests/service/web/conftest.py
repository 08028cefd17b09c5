"""The pages are tried on the same app as the API: the real one on a real store."""

from __future__ import annotations

import pytest

from service.web.site import POLICY
from tests.service.api.conftest import app, client, host, make_app, people, person, person_at, queue, seated

__all__ = ["app", "client", "host", "make_app", "people", "person", "person_at", "queue", "seated"]


@pytest.fixture
def get(client):
    """Read a page as a browser does."""

    def get(path, status=200):
        answer = client.get(path, headers={"Accept": "text/html"})
        assert answer.status_code == status, answer.text
        assert answer.headers["Content-Security-Policy"] == POLICY
        assert answer.headers["Cache-Control"] == "no-cache"
        assert answer.mimetype == "text/html"
        return answer.text

    return get
