"""The pages are tried on the same app as the API: the real one on a real store."""

from __future__ import annotations

from tests.service.api.conftest import app, client, host, make_app, people, person, person_at, queue, seated

__all__ = ["app", "client", "host", "make_app", "people", "person", "person_at", "queue", "seated"]
