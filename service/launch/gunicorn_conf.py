"""How gunicorn serves the API: greenlets, since thousands of readers may wait or stream at once.

The address to bind and the number of workers come from the command line of whoever starts it.
"""

import os
from typing import Any

from service.config import Settings
from service.logs import setup

_settings = Settings.from_env(os.environ)

worker_class = "service.launch.api_worker.ApiWorker"
logger_class = "service.launch.api_worker.ApiLogger"
worker_connections = 4000
timeout = 60
graceful_timeout = 10
keepalive = 75
limit_request_line = 4094
limit_request_fields = 64
limit_request_field_size = 8190
control_socket_disable = True
forwarded_allow_ips = ""
"""Nobody: how many proxies are believed is SLAGVELD_PROXIES, and the app's business."""
loglevel = _settings.log_level
logconfig_dict = setup.settings("api", _settings.logs, _settings.log_level)


def on_starting(_server: Any) -> None:
    """Log what Python would print, here and in the processes to come."""
    setup.take_over()


def pre_request(_worker: Any, _request: Any) -> None:
    """Say nothing: gunicorn's own would log the path, which is a stranger's text."""


def worker_exit(_server: Any, worker: Any) -> None:
    """Let a process whose requests are all answered leave what it has counted."""
    app = getattr(worker, "wsgi", None)  # there is none if it couldn't be built
    if app is not None:
        app.end()


def on_exit(_server: Any) -> None:
    """Leave nothing of this launch behind."""
    from service.launch import measured  # noqa: PLC0415 - this file is read before processes are made of greenlets
    from service.metrics.metering import Place  # noqa: PLC0415 - likewise

    measured.close_place(Place.of(os.environ))
