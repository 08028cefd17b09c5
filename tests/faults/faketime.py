"""A wall clock that a test sets, for processes of its choosing, while their monotonic clocks go on as they are."""

from __future__ import annotations

import platform
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from service.launch.valkey import find_server

LIBRARY = Path("vendor", "libfaketime", "src", "libfaketime.so.1")

needs_faketime = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="libfaketime's wheel is for Linux on x86-64"
)


class WallClock:
    """What the processes started with its `environment`, or the store by its `program`, take for the time."""

    def __init__(self, folder: Path) -> None:
        self._offset = folder / "offset"
        self.set(0)
        library = Path(str(find_spec("libfaketime").origin)).parent / LIBRARY
        self.environment = {
            "LD_PRELOAD": str(library),
            "FAKETIME_TIMESTAMP_FILE": str(self._offset),
            "FAKETIME_NO_CACHE": "1",
            "DONT_FAKE_MONOTONIC": "1",
        }
        settings = " ".join(f"{name}='{value}'" for name, value in self.environment.items())
        self.program = folder / "valkey-with-a-clock"
        self.program.write_text(f"#!/bin/sh\n{settings} exec '{find_server()}' \"$@\"\n")
        self.program.chmod(0o700)

    def set(self, hours: float) -> None:
        """Set it so many hours ahead of the true time, or behind it."""
        new = self._offset.with_suffix(".new")
        new.write_text(f"{hours * 3600:+.0f}")
        new.replace(self._offset)
