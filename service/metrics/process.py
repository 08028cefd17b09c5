"""What the process itself takes: memory, processor, descriptors, threads. Where there is no /proc some aren't known."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path
from time import process_time
from typing import Final

from service.metrics.meters import Meters

_STATM: Final = Path("/proc/self/statm")
_DESCRIPTORS: Final = Path("/proc/self/fd")


class Own:
    """Looks at the process it is made in, which is of that `part`: api, worker."""

    def __init__(self, meters: Meters, part: str) -> None:
        """Begin with the processor time that the process has taken so far."""
        self._meters = meters
        self._part = part
        self._cpu = 0.0

    def look(self) -> None:
        """Set the gauges, and count the processor time since the last look."""
        meters, part = self._meters, self._part
        meters.processes.set(1, part)
        meters.threads.set(threading.active_count(), part)
        now = process_time()
        meters.cpu.add(part, by=now - self._cpu)
        self._cpu = now
        with suppress(OSError):  # there is no /proc, or no descriptor left
            meters.memory.set(int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE"), part)
            meters.descriptors.set(sum(1 for _ in _DESCRIPTORS.iterdir()), part)
