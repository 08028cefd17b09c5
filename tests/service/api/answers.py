"""What answers have to be like."""

from __future__ import annotations

from service.api.wire import REQUEST_ID

ITS_OWN = frozenset({"Date", REQUEST_ID})
"""Headers that are another's for each answer, whatever it answers."""


def problem(answer, status, code):
    """Assert that an answer is a whole problem and give it."""
    assert answer.status_code == status, answer.text
    assert answer.content_type == "application/problem+json"
    body = answer.get_json()
    assert body["code"] == code, body
    assert body["status"] == status
    assert {"type", "title", "detail"} <= set(body)
    assert not body["detail"].endswith(".")
    return body
