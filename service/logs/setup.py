"""Has all that a process says come out in one form: what is logged, and what Python itself would print."""

from __future__ import annotations

import logging
import logging.config
import os
import sys
import threading
from contextlib import suppress
from types import TracebackType
from typing import Any, Final

FORMS: Final = {"text": "service.logs.lines.OneLine", "json": "service.logs.lines.JsonLine"}
"""What `SLAGVELD_LOGS` may say, and what writes it."""
TALKATIVE: Final = ("dramatiq", "werkzeug", "urllib3")
"""Loggers that speak of every job or request; their warnings are still heard, and all of it at the level `debug`."""
STDERR: Final = 2

logger: Final = logging.getLogger("slagveld")


class Stderr(logging.Handler):
    """Writes each line at once, so that those of several processes never mix."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record; one that can't be is told of instead, and a stderr that takes nothing is none."""
        try:
            line = self.format(record)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with a line, who logs must outlive it
            line = self.format(_unwritable(record, error))
        with suppress(OSError):  # nobody is left who could be told
            os.write(STDERR, line.encode(errors="replace") + b"\n")


def settings(process: str, form: str = "text", level: str = "info") -> dict[str, Any]:
    """Give what `logging.config.dictConfig` takes; gunicorn takes the same."""
    quiet = {} if level == "debug" else {name: {"level": "WARNING"} for name in TALKATIVE}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"()": FORMS[form], "process": process}},
        "handlers": {"stderr": {"()": "service.logs.setup.Stderr", "formatter": "line"}},
        "root": {"level": level.upper(), "handlers": ["stderr"]},
        "loggers": quiet | {"gunicorn.error": {"handlers": [], "propagate": True}},  # its level is --log-level
    }


def begin(process: str, form: str = "text", level: str = "info") -> None:
    """Log like this from now on, in the whole process."""
    logging.config.dictConfig(settings(process, form, level))
    take_over()


def take_over() -> None:
    """Log what Python would print: warnings, and exceptions that nobody catches."""
    logging.captureWarnings(capture=True)
    sys.excepthook = _process_broke
    threading.excepthook = _thread_broke
    sys.unraisablehook = _ignored


def _process_broke(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)
    else:
        logger.critical("the process broke", exc_info=(kind, error, trace))


def _thread_broke(hooked: threading.ExceptHookArgs) -> None:
    if hooked.exc_value is not None and not issubclass(hooked.exc_type, SystemExit):
        name = hooked.thread.name if hooked.thread else "that is gone"
        logger.error("the thread %s broke", name, exc_info=(hooked.exc_type, hooked.exc_value, hooked.exc_traceback))


def _ignored(hooked: sys.UnraisableHookArgs) -> None:
    error = hooked.exc_value or hooked.exc_type()
    logger.error(hooked.err_msg or "an exception was ignored", exc_info=(type(error), error, hooked.exc_traceback))


def _unwritable(record: logging.LogRecord, error: Exception) -> logging.LogRecord:
    said = f"a line of {record.filename}:{record.lineno} can't be written: {type(error).__name__}"
    return logging.LogRecord(record.name, logging.ERROR, record.pathname, record.lineno, said, None, None)
