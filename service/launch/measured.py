"""Where a launch's metrics go: the port they are served on, taken once, and the folder that its processes share."""

from __future__ import annotations

import logging
import os
import shutil
import socket
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from service.config import Address, Settings
from service.launch import ports
from service.metrics.metering import Metering, Place, metering_of
from service.metrics.serving import PATH

VARIABLE: Final = "SLAGVELD_METRICS"

logger: Final = logging.getLogger(__name__)


def listen(address: Address) -> socket.socket:
    """Listen where metrics are to be served; raises PortError."""
    return ports.listen(address.host, address.port, host_by=VARIABLE, port_by=VARIABLE)


def open_place(address: Address) -> Place:
    """Listen, on a socket that processes inherit, and make the folder; `close_place` by this process undoes it."""
    listening = listen(address)
    listening.set_inheritable(True)
    folder = Path(tempfile.mkdtemp(prefix="slagveld-metrics-"))
    return Place(listening.detach(), os.getpid(), folder)


def close_place(place: Place | None) -> None:
    """Remove the folder of the launch that this process is; those of others stay."""
    if place is not None and place.owner == os.getpid():
        shutil.rmtree(place.folder, ignore_errors=True)  # what tidies up may have been quicker


@contextmanager
def place_of(settings: Settings) -> Iterator[Place | None]:
    """Have a place for metrics, if they are to be served."""
    place = None if settings.metrics is None else open_place(settings.metrics)
    try:
        yield place
    finally:
        close_place(place)
        if place is not None:
            os.close(place.descriptor)


def url_of(place: Place) -> str:
    """Say where this machine reads them."""
    with socket.socket(fileno=os.dup(place.descriptor)) as listening:
        return _url(listening)


def _url(listening: socket.socket) -> str:
    return f"{ports.url_of(listening)}{PATH}"


@contextmanager
def of_worker(settings: Settings, environment: Mapping[str, str]) -> Iterator[Metering | None]:
    """Measure a worker: one of a launch leaves what it counts with the others, one by itself serves it."""
    place = Place.of(environment)
    metering = metering_of("worker", place)
    if metering is None and settings.metrics is not None:
        listening = listen(settings.metrics)
        logger.info("metrics are served at %s", _url(listening))
        metering = Metering("worker", None)
        metering.serve(listening)
    if metering is None:
        yield None
        return
    metering.start()
    try:
        yield metering
    finally:
        metering.stop()
