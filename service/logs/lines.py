"""A record as one line, in text or in JSON: bounded, with nothing in it that controls a terminal or tells a secret."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from service.logs import about

FORMAT: Final = "%(asctime)s %(levelname)s {process} %(process)d: %(message)s"
LONGEST: Final = 4_095
"""Bytes of a line without its end: a pipe takes 4,096 at once or not at all, so lines of many processes never mix."""
FIELDS: Final = (*about.IDS, "method", "route", "status", "ms", "bytes", "client")
"""What a line in JSON may have beside what each has; what libraries add to their records is left out."""
LONGEST_MESSAGE: Final = 1_000
"""Bytes of the message of a line that would be longer."""
LONGEST_FIELD: Final = 200
COVERED: Final = "***"
LEFT_OUT: Final = " ... "
_JSON: Final = json.JSONEncoder(separators=(",", ":"))
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_SECRET: Final = re.compile(
    r"(?<![A-Za-z0-9])[2-9TJQKA][CDHS](?![A-Za-z0-9])"  # a card
    r"|(?:slt_|sst_|whsec_|(?i:bearer) +)[A-Za-z0-9+/=_.~-]+"  # a token, or a bot's secret
    r"|(?<![0-9A-Za-z])[0-9A-Fa-f]{64,}(?![0-9A-Za-z])"  # 32 bytes, such as packs and keys follow from
    r"|(?<=://)[^/@\s]*(?=@)"  # who may see what a URL names
)
"""What exceptions may quote of what they broke over."""


def covered(text: str) -> str:
    """Put a mark in the place of all that looks like a card or a secret, or is no character."""
    readable = text if text.isascii() else text.encode(errors="replace").decode()  # without halves of characters
    return _SECRET.sub(COVERED, readable)


class OneLine(logging.Formatter):
    """Writes a record as one line for people: what would break it is escaped, tracebacks included."""

    def __init__(self, process: str = "slagveld") -> None:
        """Name the process in every line."""
        super().__init__(FORMAT.format(process=process))

    def format(self, record: logging.LogRecord) -> str:
        """Format as usual, then make it one line."""
        caused_by = _told(record).get("request_id")
        text = super().format(record) + (f" (request {caused_by})" if caused_by else "")
        line = _CONTROL.sub(lambda found: repr(found[0])[1:-1], covered(text))
        return _shortened(line, lambda shorter: len(shorter.encode()) <= LONGEST)


class JsonLine(logging.Formatter):
    """Writes a record as a JSON object in ASCII: what all have, `FIELDS` as far as known, a traceback as `error`."""

    def __init__(self, process: str = "slagveld") -> None:
        """Name the process in every line."""
        super().__init__()
        self._process = process

    def format(self, record: logging.LogRecord) -> str:
        """Write it; of what is too long the middle of message and traceback is left out."""
        fields: dict[str, Any] = {
            "time": _utc(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "process": self._process,
            "pid": record.process,
            "message": covered(record.getMessage()),
            **_told(record),
        }
        error = covered(self._error_of(record))
        if error:
            fields["error"] = error
        line = _encoded(fields)
        if len(line) > LONGEST:
            fields["message"] = _shortened(fields["message"], lambda shorter: len(_encoded(shorter)) <= LONGEST_MESSAGE)
            if error:
                fields["error"] = _shortened(
                    error, lambda shorter: len(_encoded(fields | {"error": shorter})) <= LONGEST
                )
            line = _encoded(fields)
        return line

    def _error_of(self, record: logging.LogRecord) -> str:
        raised = self.formatException(record.exc_info) if record.exc_info and record.exc_info[0] else ""
        return "\n".join(part for part in (raised, record.stack_info) if part)


def _told(record: logging.LogRecord) -> dict[str, str | int | float]:
    """Give the fields of a record: what lines are about here, and what is said with this one."""
    known: Mapping[str, Any] = {**about.ids(), **record.__dict__}
    return {name: _plain(known[name]) for name in FIELDS if known.get(name) is not None}


def _plain(value: Any) -> str | int | float:
    return value if isinstance(value, int | float) else covered(str(value)[:LONGEST_FIELD])


def _utc(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _encoded(value: Any) -> str:
    return _JSON.encode(value).replace("\x7f", "\\u007f")


def _shortened(text: str, fits: Callable[[str], bool]) -> str:
    """Leave out of the middle what makes a text too long: how a traceback ends says most, then how it begins."""
    if fits(text):
        return text
    best, least, most = LEFT_OUT, 0, min(len(text), LONGEST)
    while least <= most:
        kept = (least + most) // 2
        head = kept // 4
        shorter = f"{text[:head]}{LEFT_OUT}{text[len(text) - (kept - head) :]}"
        if fits(shorter):
            best, least = shorter, kept + 1
        else:
            most = kept - 1
    return best
