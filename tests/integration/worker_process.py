"""A worker as a process of its own, its settings from the environment; SIGTERM ends it in order."""

from __future__ import annotations

import logging
import os
import signal
import threading

from service.config import Settings
from service.worker import WorkerProcess


def main() -> None:
    logging.basicConfig(level=logging.WARNING, format="%(process)d %(asctime)s %(name)s %(levelname)s %(message)s")
    told = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: told.set())
    WorkerProcess(Settings.from_env(os.environ)).run(told.wait)


if __name__ == "__main__":
    main()
