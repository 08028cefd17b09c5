"""What the commands share that let a bot answer: they show its decisions and end in good order on SIGTERM, too."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from typing import Any, TextIO

from bot_sdk import printing
from bot_sdk.hosting import OnDecided, Served


def writing_to(out: TextIO) -> Callable[[bytes], object]:
    """Write past the buffer of a file, whose lock would hold up our end if nobody reads."""

    def write(line: bytes) -> None:
        os.write(out.fileno(), line)

    return write


def showing_decisions(printer: printing.Printer, *, as_json: bool) -> OnDecided:
    """Show each decision in a line."""

    def decided(served: Served) -> None:
        printer.print(json.dumps(printing.decision_json(served)) if as_json else printing.decision_line(served))

    return decided


def end_on_sigterm() -> None:
    """Take SIGTERM for Ctrl-C."""
    signal.signal(signal.SIGTERM, _stop)


def _stop(_number: int, _frame: Any) -> None:
    raise KeyboardInterrupt
