"""Waiting for news: `If-None-Match` with `Prefer: wait=20`.

A tag names what its audience can see and nothing else, so an ETag tells nobody more than the answer itself does.
"""

from __future__ import annotations

import re

from flask import Response, current_app, request

from service.arena.reading import Look

MAX_WAIT_S = 60
PREFER = {
    "name": "Prefer",
    "in": "header",
    "description": "`wait=20`: how many seconds to wait for news, 60 at most.",
    "schema": {"type": "string", "example": "wait=20"},
}
IF_NONE_MATCH = {
    "name": "If-None-Match",
    "in": "header",
    "description": "The ETag of the last answer: 304 if there is nothing new, after the wait that Prefer asks for.",
    "schema": {"type": "string"},
}
ETAG = {"ETag": {"schema": {"type": "string"}, "description": "Names what this reader can see now."}}

_WAIT = re.compile(r'\s*wait\s*=\s*"?(\d{1,6})"?\s*', re.ASCII | re.IGNORECASE)


def patience_s(default: int = 0) -> int:
    """Return how many seconds the client would wait (RFC 7240), 60 at most; `default` if it doesn't say."""
    for preference in ",".join(request.headers.getlist("Prefer")).replace(";", ",").split(","):
        if match := _WAIT.fullmatch(preference):
            return min(int(match[1]), MAX_WAIT_S)
    return default


def shown(look: Look, *, private: bool = False) -> Response:
    """Answer with what somebody sees, or 304 if the client has it."""
    if is_known(look.tag):
        return unchanged(look.tag, private=private)
    return ready(look.body, headers=headers(look.tag, private=private))


def ready(body: bytes, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Answer with JSON that is written already."""
    return current_app.response_class(body, status, headers, content_type="application/json")


def is_known(tag: str) -> bool:
    """Tell whether the client has the answer of that tag already, by its If-None-Match."""
    return tag in request.if_none_match.as_set(include_weak=True)


def headers(tag: str, *, private: bool = False) -> dict[str, str]:
    """Return the headers of an answer under that tag."""
    kept = "private, no-store" if private else "no-cache"
    return {"ETag": f'"{tag}"', "Cache-Control": kept}


def unchanged(tag: str, *, private: bool = False) -> Response:
    """Answer 304: what the client has is still so."""
    return current_app.response_class(status=304, headers=headers(tag, private=private))
