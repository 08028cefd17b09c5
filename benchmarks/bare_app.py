"""What the API is compared with: a bare Flask route that answers with what one GET of Redis gives."""

from __future__ import annotations

import os
from typing import Final

from flask import Flask, Response
from redis import Redis

KEY: Final = "bare"


def application() -> Flask:
    """Build the app from the environment, in the worker process that will serve it."""
    app = Flask("bare")
    redis = Redis.from_url(os.environ["REDIS_URL"])

    @app.get("/bare")
    def bare() -> Response:
        return Response(redis.get(KEY), content_type="application/json")

    return app
