"""How our processes log: to stderr, a line each, with nothing in it that could pass for another line."""

from __future__ import annotations

import logging
import re
from typing import Any, Final

FORMAT: Final = "%(asctime)s %(levelname)s {process}: %(message)s"
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]")
QUIET: Final = ("dramatiq", "gunicorn.access", "werkzeug", "urllib3")
"""Loggers that speak of every job or request; their warnings are still heard."""


class OneLine(logging.Formatter):
    """Writes a record as one line: what would break it is escaped, tracebacks included."""

    def __init__(self, process: str = "slagveld") -> None:
        """Name the process in every line."""
        super().__init__(FORMAT.format(process=process))

    def format(self, record: logging.LogRecord) -> str:
        """Format as usual, then make it one line."""
        return _CONTROL.sub(lambda found: repr(found[0])[1:-1], super().format(record))


def settings(process: str, level: str = "INFO") -> dict[str, Any]:
    """Give what `logging.config.dictConfig` takes; gunicorn takes the same."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"()": "service.launch.logs.OneLine", "process": process}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"level": level, "handlers": ["stderr"]},
        "loggers": {name: {"level": "WARNING"} for name in QUIET}
        | {"gunicorn.error": {"handlers": [], "propagate": True}},  # its level is --log-level
    }
