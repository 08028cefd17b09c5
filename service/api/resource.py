"""The blueprint that every resource is made of: it guards, parses and documents each operation alike.

    blp = Resource("bots", description="…")

    @blp.post("/v1/bots", who=account(Scope.BOTS))
    @blp.arguments(BotNew)
    @idempotent
    @blp.response(201, BotView)
    def create_bot(body: dict[str, Any], *, mint: Mint) -> Bot:
        \"\"\"Register a bot\"\"\"

`who` is required. The function's name becomes the operationId, its docstring summary and description, the blueprint
its tag. What every operation may answer (401, 403, 404, 4xx of bodies, 429, 503) is documented from its shape.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, cast

from flask import g, request
from flask_smorest import Blueprint
from marshmallow import RAISE, Schema, ValidationError
from webargs.flaskparser import FlaskParser

from service.api import auditing, bodies
from service.api.auth import Audience
from service.api.fields import ProblemSchema
from service.api.problems import Problem
from service.api.wire import PROBLEM_JSON

View = Callable[..., Any]
Decorator = Callable[[View], View]


class StrictParser(FlaskParser):
    """Reads bodies by our own rules and refuses what no schema knows."""

    DEFAULT_UNKNOWN_BY_LOCATION: dict[str, str | None] = {  # noqa: RUF012 (as webargs declares it)
        **FlaskParser.DEFAULT_UNKNOWN_BY_LOCATION,
        "query": RAISE,
        "json": RAISE,
    }

    def load_json(self, req: Any, schema: Any) -> Any:  # noqa: ARG002 (webargs calls it so)
        """Return the body's JSON object."""
        return bodies.read_object(req)

    def load_querystring(self, req: Any, schema: Any) -> Any:
        """Return the query, in which each argument stands once."""
        for name, values in req.args.lists():
            if len(values) > 1:
                raise Problem(422, f"{name:.40}: given {len(values)} times", errors={name: ["given more than once"]})
        return super().load_querystring(req, schema)


class _UncommonError(Exception):
    """What was sent has a form that webargs knows better."""


def _sent(location: str) -> dict[str, Any]:
    """Give what was sent for a schema to load: a JSON body, or a query if there is none."""
    if location == "json":
        return bodies.read_object(request)
    if location == "query" and not request.query_string:
        return {}
    raise _UncommonError


class Resource(Blueprint):  # type: ignore[misc]  # its library is untyped
    """A flask-smorest blueprint whose operations each name their audience."""

    ARGUMENTS_PARSER = StrictParser()

    def __init__(self, name: str, *, description: str) -> None:
        super().__init__(name, name, description=description)
        self._prepare_doc_cbks.append(self._prepare_headers_doc)

    def get(self, rule: str, *, who: Audience) -> Decorator:
        """Register a view that reads."""
        return self.route(rule, who=who, methods=["GET"])

    def post(self, rule: str, *, who: Audience, audited: bool = False) -> Decorator:
        """Register a view that creates or starts something."""
        return self.route(rule, who=who, methods=["POST"], audited=audited)

    def put(self, rule: str, *, who: Audience) -> Decorator:
        """Register a view that sets something whole."""
        return self.route(rule, who=who, methods=["PUT"])

    def patch(self, rule: str, *, who: Audience) -> Decorator:
        """Register a view that changes some fields."""
        return self.route(rule, who=who, methods=["PATCH"])

    def delete(self, rule: str, *, who: Audience, audited: bool = False) -> Decorator:
        """Register a view that removes something."""
        return self.route(rule, who=who, methods=["DELETE"], audited=audited)

    def route(self, rule: str, *, who: Audience, methods: list[str], audited: bool = False) -> Decorator:
        """Register an operation for its audience; see the module.

        What the operator does by it is in the audit log, and if it is `audited` what accounts do, too.
        """

        def decorator(view: View) -> View:
            operation = self._documented(_guarded(view, who, audited=audited), rule, who)
            super(Resource, self).route(rule, methods=methods)(operation)
            return operation

        return decorator

    def response(self, status: int, schema: Any = None, **kwargs: Any) -> Decorator:
        """Answer what the view returns with that status, dumped by the schema; a view may return a Response too."""
        return cast("Decorator", super().response(status, schema, **kwargs))

    def arguments(self, schema: type[Schema], *, location: str = "json", **kwargs: Any) -> Decorator:
        """Parse the body, or the query; the view gets a dict of what the schema knows."""
        required = any(field.required for field in schema().fields.values())
        parse = super().arguments(schema, location=location, required=required, **kwargs)

        loader = schema(unknown=RAISE)

        def decorator(view: View) -> View:
            parsing: View = parse(view)

            @functools.wraps(parsing)
            def parsed(*args: Any, **kwargs: Any) -> Any:
                """Load what most send by a schema that is made already; webargs says what is wrong with the rest."""
                try:
                    loaded = loader.load(_sent(location))
                except (ValidationError, _UncommonError):
                    return parsing(*args, **kwargs)
                return view(loaded, *args, **kwargs)

            parsed._apidoc["arguments"].pop("responses")  # type: ignore[attr-defined] # noqa: SLF001 (documented by route)
            parsed.locations = {*getattr(view, "locations", ()), location}  # type: ignore[attr-defined]  # notes on a view
            return parsed

        return decorator

    def takes(self, *headers: dict[str, Any]) -> Decorator:
        """Document headers that the operation reads, each as an OpenAPI parameter."""

        def decorator(view: View) -> View:
            view.headers = headers  # type: ignore[attr-defined]  # a note on a view
            return view

        return decorator

    def may_answer(
        self, status: int, description: str, schema: type[Schema] | dict[str, Any] | None = None, **kwargs: Any
    ) -> Decorator:
        """Document another answer that is no failure."""
        return cast("Decorator", self.alt_response(status, schema=schema, description=description, **kwargs))

    def fails(self, status: int, description: str) -> Decorator:
        """Document a problem that this operation in particular may answer."""
        documented = self.alt_response(status, schema=ProblemSchema, content_type=PROBLEM_JSON, description=description)
        return cast("Decorator", documented)

    def _documented(self, view: View, rule: str, who: Audience) -> View:
        documented: set[int] = set()
        for part in getattr(view, "_apidoc", {}).values():
            if isinstance(part, dict):
                documented |= set(part.get("responses", {}))
        problems = {status: f"Problem{status}" for status in sorted(_statuses(view, rule) - documented)}
        summary = (view.__doc__ or "").splitlines()[0].rstrip(".")
        said: dict[str, Any] = {"summary": summary, "operationId": _camel(view.__name__), "security": who.security}
        documented_view: Any = self.doc(**said, responses=problems)(view)
        key = ["idempotencyKey"] if getattr(view, "is_idempotent", False) else []
        documented_view._apidoc["headers"] = [*key, *getattr(view, "headers", ())]  # noqa: SLF001 (read below)
        return cast("View", documented_view)

    def _prepare_headers_doc(self, doc: dict[str, Any], doc_info: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Add what an operation reads of the headers to what it reads of the query, which `doc` would replace."""
        if doc_info["headers"]:
            doc["parameters"] = [*doc.get("parameters", ()), *doc_info["headers"]]
        return doc


def _guarded(view: View, who: Audience, *, audited: bool) -> View:
    @functools.wraps(view)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        who.check(g.caller)
        locations = getattr(view, "locations", ())
        if request.args and "query" not in locations:
            name = next(iter(request.args))
            raise Problem(422, f"{name:.40}: no argument here", errors={name: ["unknown field"]})
        auditing.begin(_camel(view.__name__), of_accounts=audited)
        return view(*args, **kwargs)

    guarded.audience = who  # type: ignore[attr-defined]  # a note on a view
    return guarded


def _statuses(view: View, rule: str) -> set[int]:
    found = {400, 401, 403, 422, 429, 503}
    if "<" in rule:
        found.add(404)
    if "json" in getattr(view, "locations", ()):
        found |= {408, 411, 413, 415}
    if getattr(view, "is_idempotent", False):
        found |= {408, 409}
    return found


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
