"""The specification of the API: what its resources document, in one OpenAPI file.

It is the same in every process and takes a while to build, so it is built when somebody asks for it.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from flask import Flask
from flask_smorest import Api

from service.api import (
    accounts,
    admin,
    appearances,
    audit,
    auth,
    bots,
    dead_letters,
    entries,
    events,
    fields,
    games,
    health,
    idempotency,
    ids,
    pulling,
    ratings,
    rulesets,
    scoreboard,
    seats,
    tournaments,
    wire,
)

RESOURCES = (
    health.blp,
    rulesets.blp,
    accounts.blp,
    bots.blp,
    pulling.blp,
    games.blp,
    events.blp,
    seats.blp,
    tournaments.blp,
    entries.blp,
    scoreboard.blp,
    ratings.blp,
    appearances.blp,
    admin.blp,
    audit.blp,
    dead_letters.blp,
)
DESCRIPTION = """\
Register a bot, launch a tournament, play a hand. JSON in and out; every error is `application/problem+json` with a
`code` that stays what it is. Lists go by `limit` and `cursor`. Creating calls take an `Idempotency-Key`: the same key
and body give the same answer for 24 hours."""


@cache
def specification() -> dict[str, Any]:
    """Give the specification; nobody changes what is given."""
    app = Flask("service")
    ids.register(app)
    api = _Api(app)
    for resource in RESOURCES:
        api.register_blueprint(resource)
    return dict(json.loads(json.dumps(api.spec.to_dict())))  # as it is served: no enums, no tuples


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
