"""Builds the API of one process from its services. Nothing is built at import."""

from __future__ import annotations

from flask import Flask, g, request
from werkzeug.exceptions import NotFound
from werkzeug.middleware.proxy_fix import ProxyFix

from service.api import (
    access,
    auditing,
    auth,
    bodies,
    context,
    headers,
    ids,
    limits,
    measuring,
    problems,
    stream,
    waiting,
)
from service.api.specification import RESOURCES
from service.services import Services
from service.web import pages


def create_app(services: Services) -> Flask:
    """Build the WSGI app; it connects to the store at its first request."""
    app = Flask("service", static_folder=None, template_folder="web/templates")
    app.json.sort_keys = False  # type: ignore[attr-defined]  # Flask's default provider
    app.url_map.merge_slashes = False
    app.config["MAX_CONTENT_LENGTH"] = bodies.MAX_BYTES
    if services.settings.proxies:
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=services.settings.proxies, x_proto=1)  # type: ignore[method-assign]  # as Flask says to wrap it
    access.register(app, is_told=services.settings.logs == "json")
    context.attach(app, services)
    measuring.register(app, services.meters)
    ids.register(app)
    problems.register(app)
    limits.register(app, services.settings)
    waiting.register(app, services.settings.max_waiting, services.meters)
    stream.register(app, services.store.watch)
    app.before_request(_admit)
    headers.register(app, services.settings)
    auditing.register(app)
    for resource in RESOURCES:
        app.register_blueprint(resource)
    pages.register(app)
    return app


def _admit() -> None:
    if request.routing_exception is not None:
        return
    if request.environ["PATH_INFO"].startswith("//"):  # routing takes all slashes ahead for one
        raise NotFound
    bodies.check_size(request)
    auth.refuse_token_in_query(request)
    parts = context.services()
    g.caller = auth.identify(request, limits.address(), parts.gate, parts.settings.admin_token, context.glance())
