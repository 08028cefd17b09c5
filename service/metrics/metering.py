"""How one process is measured: what it counts is left in the launch's folder, or told by itself."""

from __future__ import annotations

import logging
import os
import secrets
import socket
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from service.metrics.folder import Folder
from service.metrics.meters import Meters, silent
from service.metrics.process import Own
from service.metrics.tallies import Cell

EVERY_S: Final = 1.0
"""How often a process leaves what it has counted in the folder."""
VARIABLE: Final = "SLAGVELD_METRICS_PLACE"
"""How a launch tells its processes where metrics go; no setting."""

logger: Final = logging.getLogger(__name__)

Look = Callable[[], list[Cell]]


class Place(NamedTuple):
    """Where a launch serves its metrics: a socket that listens, whose launch it is, the folder its processes share."""

    descriptor: int
    owner: int
    folder: Path

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Place | None:
        """Read what whoever launched this process has told it, None if it was nothing."""
        told = environment.get(VARIABLE)
        if not told:
            return None
        descriptor, owner, folder = told.split(":", 2)
        return cls(int(descriptor), int(owner), Path(folder))

    @property
    def environment(self) -> dict[str, str]:
        """What to tell a process."""
        return {VARIABLE: f"{self.descriptor}:{self.owner}:{self.folder}"}


class Metering:
    """The metrics of one process; `meters` is what it counts by. Made in the process itself, after any fork."""

    def __init__(self, part: str, folder: Path | None) -> None:
        """Say which `part` of the arena this is, and where it leaves what it counts; None: nowhere."""
        self.meters = Meters()
        self.meters.look_at(Own(self.meters, part).look)
        self._folder = None if folder is None else Folder(folder, f"{part}-{os.getpid()}-{secrets.token_hex(4)}")
        self._stopping = threading.Event()
        self._writing = threading.Lock()
        self._fails = False

    def start(self) -> None:
        """Begin to leave in the folder what is counted."""
        if self._folder is not None:
            threading.Thread(target=self._keep_leaving, name="metering", daemon=True).start()

    def stop(self) -> None:
        """Leave the last of it."""
        self._stopping.set()
        self._leave()

    def serve(self, listening: socket.socket, arena: Look | None = None) -> None:
        """Tell on this socket what all of the launch count, and what `arena` says of the store when it is asked."""
        from service.metrics.exposition import exposed  # noqa: PLC0415 - its library is for those who serve alone
        from service.metrics.serving import serve  # noqa: PLC0415 - likewise

        def told(accept: str) -> tuple[bytes, str]:
            return exposed([*self._read(), *(arena() if arena else ())], accept)

        serve(listening, told)

    def _read(self) -> list[Cell]:
        if self._folder is None:
            return self.meters.cells()
        self._folder.make()
        self._leave()
        return self._folder.read()

    def _keep_leaving(self) -> None:
        while not self._stopping.wait(EVERY_S):
            self._leave()

    def _leave(self) -> None:
        if self._folder is None:
            return
        with self._writing:
            try:
                self._folder.put(self.meters.cells())
            except OSError as error:  # whatever is wrong there, the arena goes on
                if not self._fails:
                    logger.warning("metrics can't be left: %s", error)
                self._fails = True
            else:
                self._fails = False


def metering_of(part: str, place: Place | None) -> Metering | None:
    """Give the metering of a process of a launch, None if it isn't measured."""
    return None if place is None else Metering(part, place.folder)


def meters_of(metering: Metering | None) -> Meters:
    """Give what a process counts by."""
    return silent() if metering is None else metering.meters
