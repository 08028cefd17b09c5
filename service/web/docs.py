"""The specification of the API, and a page to try it on. Everything the page loads is our own."""

from __future__ import annotations

import json
from functools import cache
from typing import Final

from flask import Blueprint, Response

from service.api.specification import specification
from service.web.site import POLICY, page

PAGE_POLICY: Final = POLICY.replace("img-src 'self'", "img-src 'self' data:")
"""The style sheet of Swagger UI has its icons in itself."""

pages = Blueprint("docs", __name__)


@pages.get("/openapi.json")
def openapi() -> Response:
    """Give the specification as JSON."""
    return Response(_text(), content_type="application/json", headers={"Cache-Control": "no-cache"})


@pages.get("/docs")
def docs() -> Response:
    """Show it, to read and to try."""
    return page("docs.html", here="docs", policy=PAGE_POLICY)


@cache
def _text() -> str:
    return json.dumps(specification(), indent=1)
