from __future__ import annotations

import pytest

from service.api import conditional


@pytest.mark.parametrize(
    ("prefer", "seconds"),
    [
        (None, 7),
        ("wait=20", 20),
        ("respond-async, wait=10", 10),
        ("wait=5; x=y", 5),
        ('WAIT="3"', 3),
        ("wait=999999", 60),
        ("wait=0", 0),
        ("wait=-1", 7),
        ("wait=1e3", 7),
        ("wait=" + "9" * 5000, 7),
        ("await=5", 7),
    ],
)
def test_how_long_a_client_waits(app, prefer, seconds):
    headers = {} if prefer is None else {"Prefer": prefer}
    with app.test_request_context(headers=headers):
        assert conditional.patience_s(7) == seconds


@pytest.mark.parametrize(
    ("sent", "known"),
    [
        (None, False),
        ('"12.running"', True),
        ('W/"12.running"', True),
        ('"x", "12.running"', True),
        ("12.running", True),
        ('"12"', False),
        ("*", False),
    ],
)
def test_what_a_client_has_already(app, sent, known):
    with app.test_request_context(headers={} if sent is None else {"If-None-Match": sent}):
        assert conditional.is_known("12.running") is known


def test_what_is_private_is_kept_by_nobody(app):
    with app.test_request_context():
        assert conditional.unchanged("3.open").headers["ETag"] == '"3.open"'
        assert conditional.headers("3.open")["Cache-Control"] == "no-cache"
        assert conditional.headers("3.open", private=True)["Cache-Control"] == "private, no-store"
