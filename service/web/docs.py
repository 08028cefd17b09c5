"""The specification of the API, and a page to try it on. Everything the page loads is our own."""

from __future__ import annotations

import json
from functools import cache

from flask import Blueprint, Response

from service.api.specification import specification
from service.web.site import page

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
"""Swagger UI writes style attributes; scripts come from our own files alone."""

pages = Blueprint("docs", __name__)


@pages.get("/openapi.json")
def openapi() -> Response:
    """Give the specification as JSON."""
    return Response(_text(), content_type="application/json", headers={"Cache-Control": "no-cache"})


@pages.get("/docs")
def docs() -> Response:
    """Show it, to read and to try."""
    return page("docs.html", policy=PAGE_POLICY)


@cache
def _text() -> str:
    return json.dumps(specification(), indent=1)
