"""The API as gunicorn runs it: `gunicorn -c python:service.launch.gunicorn_conf 'service.wsgi:application()'`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from flask import Flask

from service.app import create_app
from service.config import Settings
from service.jobs import BrokerQueue, open_broker
from service.services import open_services


@dataclass(frozen=True, slots=True)
class Application:
    """The app of one process; `send_home` ends its long polls and streams, now and from now on.

    `client_s` is how long a client may be slow, for the server to see to.
    """

    app: Flask
    send_home: Callable[[], None]
    client_s: float

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Answer a request."""
        return self.app(environ, start_response)


def application() -> Application:
    """Build the app from the environment, in the worker process that will serve it."""
    settings = Settings.from_env(os.environ)
    services = open_services(settings, BrokerQueue(open_broker(settings)))
    return Application(create_app(services), services.store.watch.close, settings.client_ms / 1000)
