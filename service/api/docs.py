"""The specification of the API, and a page to try it on. Everything the page loads is our own."""

from __future__ import annotations

import json
from functools import cache

from flask import Blueprint, Flask, Response, render_template

from service.api.specification import specification

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
"""Swagger UI writes style attributes; scripts come from our own files alone."""


def register(app: Flask) -> None:
    """Serve /docs and /openapi.json."""
    pages = Blueprint("docs", "docs")

    @pages.get("/openapi.json")
    def openapi() -> Response:
        return Response(_text(), content_type="application/json", headers={"Cache-Control": "no-cache"})

    @pages.get("/docs")
    def docs() -> Response:
        policy = {"Content-Security-Policy": PAGE_POLICY, "Cache-Control": "no-cache"}
        return Response(render_template("docs.html"), content_type="text/html; charset=utf-8", headers=policy)

    app.register_blueprint(pages)


@cache
def _text() -> str:
    return json.dumps(specification(), indent=1)
