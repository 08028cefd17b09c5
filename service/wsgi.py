"""The API as gunicorn runs it: `gunicorn -c python:service.launch.gunicorn_conf 'service.wsgi:application()'`."""

from __future__ import annotations

import os

from flask import Flask

from service.app import create_app
from service.config import Settings
from service.jobs import BrokerQueue, open_broker
from service.services import open_services


def application() -> Flask:
    """Build the app from the environment, in the worker process that will serve it."""
    settings = Settings.from_env(os.environ)
    return create_app(open_services(settings, BrokerQueue(open_broker(settings))))
