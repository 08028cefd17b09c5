"""The API as gunicorn runs it: `gunicorn -c python:service.launch.gunicorn_conf 'service.wsgi:application()'`."""

from __future__ import annotations

import logging
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from flask import Flask
from redis import RedisError

from service.app import create_app
from service.config import Settings, SettingsError
from service.jobs import BrokerQueue, open_broker
from service.metrics.metering import Metering, Place, metering_of, meters_of
from service.services import Services, open_services
from service.store.errors import FormError
from service.store.store import Store

logger: Final = logging.getLogger(__name__)

OPEN_S: Final = 0.2
NOT_BEGUN: Final = 3
"""The exit status by which a process of gunicorn's tells that there is no use in starting others."""


@dataclass(frozen=True, slots=True)
class Application:
    """The app of one process; `send_home` ends its long polls and streams, now and from now on.

    `client_s` is how long a client may be slow, for the server to see to; `end` is called when all is answered.
    """

    app: Flask
    send_home: Callable[[], None]
    client_s: float
    end: Callable[[], None]

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Answer a request."""
        return self.app(environ, start_response)


def application() -> Application:
    """Build the app from the environment, in the worker process that will serve it.

    Ends the process if the store isn't this release's; one that is away is looked at when it is there.
    """
    settings = Settings.from_env(os.environ)
    place = Place.of(os.environ)
    if settings.metrics is not None and place is None:
        raise SettingsError("unset SLAGVELD_METRICS, or start the API by `slagveld api`: its processes share a port")
    metering = metering_of("api", place)
    services = open_services(settings, BrokerQueue(open_broker(settings)), meters=meters_of(metering))
    try:
        with suppress(RedisError):  # it is away: looked at when it is there
            services.store.form.claim()
    except FormError as error:
        logger.critical("the API doesn't begin: %s", error)
        sys.exit(NOT_BEGUN)
    app = create_app(services)
    if metering is not None and place is not None:
        _serve_metrics(metering, place, services)
    threading.Thread(target=_keep_open, args=(services.store,), name="open", daemon=True).start()
    end = metering.stop if metering else _nothing
    return Application(app, services.store.watch.close, settings.client_ms / 1000, end)


def _serve_metrics(metering: Metering, place: Place, services: Services) -> None:
    metering.start()
    metering.serve(socket.socket(fileno=os.dup(place.descriptor)), services.census.cells)


def _nothing() -> None:
    """Do nothing at the end: nothing is measured."""


def _keep_open(store: Store) -> None:
    """Let workers know that bots can poll here, until those who wait are sent home.

    The process ends at once if a newer release has taken the store over meanwhile.
    """
    while not store.watch.is_closed:
        try:
            store.form.claim()
            store.mailboxes.keep_open()
        except RedisError:  # then polls aren't answered either
            pass
        except FormError as error:
            logger.critical("the API ends at once: %s", error)
            os._exit(NOT_BEGUN)
        time.sleep(OPEN_S)
