"""What all pages have in common: how one is answered, what it may load, and what is told where it can't be shown."""

from __future__ import annotations

from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, Final

from flask import Blueprint, Flask, Response, render_template, request

from service.api import limits, wire
from service.arena.caller import Caller

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
"""Scripts, styles and whatever else from our own files alone, and nothing inline."""
HTML: Final = "text/html"
API: Final = "/v1/"
_OWN: Final = {"Content-Type", "Content-Length", "Cache-Control", *wire.HEADERS}
"""Headers that a page has of its own."""


def page(template: str, *, status: int = HTTPStatus.OK, policy: str = POLICY, **values: Any) -> Response:
    """Answer with a page."""
    headers = {"Content-Security-Policy": policy, "Cache-Control": "no-cache"}
    body = render_template(template, **values)
    return Response(body, status=status, content_type=f"{HTML}; charset=utf-8", headers=headers)


def utc(ms: int) -> str:
    """Write Unix milliseconds as ISO 8601 has them, to the second."""
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def anybody() -> Caller:
    """Give who reads a page: nobody in particular, whoever asks for it, so that it is the same for all."""
    return Caller(address=limits.address())


def register(app: Flask, pages: list[Blueprint]) -> None:
    """Serve the pages; what goes wrong on one of them, or anywhere a browser has got lost, is told by a page."""
    for each in pages:
        app.register_blueprint(each)
    app.jinja_env.filters["utc"] = utc
    names = {each.name for each in pages}

    def readable(answer: Response) -> Response:
        if request.blueprint in names and answer.status_code == HTTPStatus.OK:
            answer.add_etag()
            answer.make_conditional(request)  # what is fetched again and again has mostly not changed
            return answer
        if answer.mimetype != wire.PROBLEM_JSON or not _is_read(names):
            return answer
        told = page("error.html", status=answer.status_code, problem=answer.get_json())
        told.headers.extend((name, value) for name, value in answer.headers if name not in _OWN)
        return told

    app.after_request(readable)


def _is_read(names: set[str]) -> bool:
    """Whether a person reads the answer: it is that of a page, or nothing is there and the client asks for pages.

    Under the API's own path programs read, whatever they accept.
    """
    if request.blueprint is not None:
        return request.blueprint in names
    if request.endpoint is not None or request.path.startswith(API):
        return False
    return request.accept_mimetypes.best_match([wire.PROBLEM_JSON, HTML]) == HTML
