"""Builds the API of one process from its services. Nothing is built at import."""

from __future__ import annotations

from typing import Any

from flask import Flask, g, request
from flask_smorest import Api
from werkzeug.middleware.proxy_fix import ProxyFix

from service.api import (
    accounts,
    admin,
    audit,
    auditing,
    auth,
    bodies,
    bots,
    context,
    dead_letters,
    docs,
    entries,
    events,
    fields,
    games,
    headers,
    health,
    idempotency,
    ids,
    limits,
    problems,
    ratings,
    rulesets,
    scoreboard,
    seats,
    tournaments,
    waiting,
    wire,
)
from service.services import Services

RESOURCES = (
    health.blp,
    rulesets.blp,
    accounts.blp,
    bots.blp,
    games.blp,
    events.blp,
    seats.blp,
    tournaments.blp,
    entries.blp,
    scoreboard.blp,
    ratings.blp,
    admin.blp,
    audit.blp,
    dead_letters.blp,
)
DESCRIPTION = """\
Register a bot, launch a tournament, play a hand. JSON in and out; every error is `application/problem+json` with a
`code` that stays what it is. Lists go by `limit` and `cursor`. Creating calls take an `Idempotency-Key`: the same key
and body give the same answer for 24 hours."""


def create_app(services: Services) -> Flask:
    """Build the WSGI app; it connects to the store at its first request."""
    app = Flask("service", static_folder="web/static", static_url_path="/static", template_folder="web/templates")
    app.json.sort_keys = False  # type: ignore[attr-defined]  # Flask's default provider
    app.url_map.merge_slashes = False
    app.config["MAX_CONTENT_LENGTH"] = bodies.MAX_BYTES
    if services.settings.proxies:
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=services.settings.proxies, x_proto=1)  # type: ignore[method-assign]  # as Flask says to wrap it
    context.attach(app, services)
    ids.register(app)
    problems.register(app)
    limits.register(app, services.settings)
    waiting.register(app, services.settings.max_waiting)
    app.before_request(_admit)
    headers.register(app, services.settings)
    auditing.register(app)
    api = _Api(app)
    for resource in RESOURCES:
        api.register_blueprint(resource)
    docs.register(app, api.spec)
    return app


def _admit() -> None:
    if request.routing_exception is not None:
        return
    bodies.check_size(request)
    auth.refuse_token_in_query(request)
    parts = context.services()
    g.caller = auth.identify(request, limits.address(), parts.gate, parts.settings.admin_token, context.glance())


class _Api(Api):  # type: ignore[misc]  # its library is untyped
    """flask-smorest's registry of operations, with our problems and our specification's head."""

    ERROR_SCHEMA = fields.ProblemSchema
    DEFAULT_ERROR_RESPONSE_NAME = "Problem"

    def __init__(self, app: Flask) -> None:
        app.config.update(API_TITLE="Slagveld", API_VERSION="1", OPENAPI_VERSION="3.1.0")
        super().__init__(app, spec_kwargs={"info": _info(), "servers": [{"url": "/"}], "security": [{"account": []}]})
        for name, scheme in auth.SCHEMES.items():
            self.spec.components.security_scheme(name, scheme)
        key = {"name": idempotency.HEADER, "in": "header", **idempotency.PARAMETER}
        self.spec.components.parameter("idempotencyKey", "header", key)
        for converter in ids.CONVERTERS.values():
            self.register_converter(converter, ids.parameter)

    def _register_responses(self) -> None:
        for status, title in wire.TITLES.items():
            content = {wire.PROBLEM_JSON: {"schema": self.ERROR_SCHEMA}}
            answer: dict[str, Any] = {"description": title, "content": content}
            if status in {429, 503}:
                answer["headers"] = {"Retry-After": {"schema": {"type": "integer"}, "description": "Seconds."}}
            self.spec.components.response(f"Problem{status}", answer, lazy=True)

        content = {wire.PROBLEM_JSON: {"schema": self.ERROR_SCHEMA}}
        self.spec.components.response("Problem", {"description": "Any other problem", "content": content}, lazy=True)

    def _register_pagination_header(self) -> None:
        """Leave out flask-smorest's own way of pages; ours are in the body."""

    def _register_error_handlers(self) -> None:
        """Leave errors to `problems`."""


def _info() -> dict[str, Any]:
    return {
        "description": DESCRIPTION,
        "license": {"name": "MIT", "identifier": "MIT"},
        "contact": {"name": "Slagveld"},
    }
