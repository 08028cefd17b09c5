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
    "Access-Control-Expose-Headers": f"ETag, Location, Retry-After, Idempotency-Replayed, {wire.REQUEST_ID}",
    "Access-Control-Max-Age": "600",
}

_EVERYWHERE = [(name.lower(), name, value) for name, value in wire.HEADERS.items()]


def register(app: Flask, settings: Settings) -> None:
    """Add them to every answer of the app, pages that set their own excepted."""

    def add(answer: Response) -> Response:
        own = {name.lower() for name, _ in answer.headers}
        answer.headers.extend([(name, value) for low, name, value in _EVERYWHERE if low not in own])
        if "cache-control" not in own:
            is_private = "Authorization" in request.headers
            answer.headers["Cache-Control"] = "private, no-store" if is_private else "no-store"
        if not settings.cors_origins:
            return answer
        answer.vary.add("Origin")
        origin = request.headers.get("Origin")
        if origin in settings.cors_origins:
            answer.headers["Access-Control-Allow-Origin"] = origin
            answer.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
            answer.headers.update(_CORS)
        return answer

    app.after_request(add)
