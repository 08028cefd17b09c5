"""Headers of every answer: what browsers may do with it, who may keep it, and who may read it from elsewhere."""

from __future__ import annotations

from flask import Flask, Response, request

from service.api import wire
from service.config import Settings

_CORS = {
    "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE",
    "Access-Control-Allow-Headers": (
        "Authorization, Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID, Prefer"
    ),
    "Access-Control-Expose-Headers": "ETag, Location, Retry-After, Idempotency-Replayed",
    "Access-Control-Max-Age": "600",
}


def register(app: Flask, settings: Settings) -> None:
    """Add them to every answer of the app, pages that set their own excepted."""

    def add(answer: Response) -> Response:
        for name, value in wire.HEADERS.items():
            answer.headers.setdefault(name, value)
        if "Authorization" in request.headers:
            answer.headers.setdefault("Cache-Control", "private, no-store")
        answer.headers.setdefault("Cache-Control", "no-store")
        origin = request.headers.get("Origin")
        if settings.cors_origins:
            answer.vary.add("Origin")
        if origin in settings.cors_origins:
            answer.headers["Access-Control-Allow-Origin"] = origin
            answer.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
            answer.headers.update(_CORS)
        return answer

    app.after_request(add)
