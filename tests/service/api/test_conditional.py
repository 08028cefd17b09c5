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
    ("tag", "version"),
    [
        (None, None),
        ('"12"', 12),
        ('W/"12"', 12),
        ('"x", "3"', 3),
        ("*", None),
        ("12", 12),
        ('"' + "1" * 99 + '"', None),
    ],
)
def test_which_version_a_client_has(app, tag, version):
    with app.test_request_context(headers={} if tag is None else {"If-None-Match": tag}):
        assert conditional.seen_version() == version


def test_what_is_private_is_kept_by_nobody(app):
    with app.test_request_context():
        assert conditional.unchanged(3).headers["ETag"] == '"3"'
        assert conditional.headers(3)["Cache-Control"] == "no-cache"
        assert conditional.headers(3, private=True)["Cache-Control"] == "private, no-store"
