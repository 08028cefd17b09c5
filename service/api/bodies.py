"""Reads what clients send, strictly: everything that isn't a plain JSON object within our limits is refused.

No schema sees a body before this module does. A body that isn't sent counts as `{}`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from typing import Any, NoReturn

from flask import Request
from werkzeug.exceptions import ClientDisconnected

from service.api.problems import Problem

MAX_BYTES = 64 * 1024
LARGER = {"pulling.post_actions": 1024 * 1024}
"""Operations by their endpoints whose bodies may be larger: each answer to a batch may take 128 KiB by itself."""
MAX_DEPTH = 16
MAX_DIGITS = 19
"""Longest whole number: all that fits into 64 bits."""

_SURROGATE = re.compile("[\ud800-\udfff]")


class _BadNumberError(ValueError):
    pass


class _DoubledKeyError(ValueError):
    pass


def check_size(request: Request) -> None:
    """Refuse a body of unknown length, which werkzeug would cut silently, and one that is too large."""
    if "Transfer-Encoding" in request.headers:
        raise Problem(411, "send Content-Length; chunked bodies aren't read")
    most = request.max_content_length = LARGER.get(request.endpoint or "", MAX_BYTES)
    if (request.content_length or 0) > most:
        raise Problem(413, f"expected a body of at most {most} bytes, got {request.content_length}")


def whole(request: Request) -> bytes:
    """Return the body; raises Problem 408 if it breaks off, or doesn't come in the time that the server gives it."""
    try:
        return request.get_data(cache=True)
    except ClientDisconnected as error:
        raise Problem(408, "expected the whole body, and soon") from error


def read_object(request: Request) -> dict[str, Any]:
    """Return the JSON object of a request; raises Problem 400, 408, 415 or 422."""
    raw = whole(request)
    if not raw:
        return {}
    if not (request.mimetype == "application/json" or request.mimetype.endswith("+json")):
        raise Problem(415, f"expected Content-Type: application/json, got {request.mimetype or 'none'}")
    value = _decode(raw)
    _check_strings_and_depth(value)
    if not isinstance(value, dict):
        raise Problem(422, f"expected a JSON object, got {_kind(value)}")
    return value


def _decode(raw: bytes) -> Any:
    try:
        return json.loads(
            raw.decode("utf-8"),
            parse_int=_whole,
            parse_float=_finite,
            parse_constant=_no_constant,
            object_pairs_hook=_unique,
        )
    except UnicodeDecodeError as error:
        raise Problem(400, "expected JSON in UTF-8", code="bad_json") from error
    except RecursionError as error:
        raise _too_deep() from error
    except (_BadNumberError, _DoubledKeyError) as error:
        raise Problem(400, str(error), code="bad_json") from error
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise Problem(400, f"expected JSON, got a mistake at {where}", code="bad_json") from error


def _check_strings_and_depth(value: Any) -> None:
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH + 1):
        for text in (item for item in level if isinstance(item, str)):
            if _SURROGATE.search(text):
                raise Problem(400, "expected text in Unicode, got half a surrogate pair", code="bad_json")
        level = [inner for item in level for inner in _inside(item)]
        if not level:
            return
    raise _too_deep()


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return [*value, *value.values()]
    return value if isinstance(value, list) else ()


def _too_deep() -> Problem:
    return Problem(400, f"expected JSON of at most {MAX_DEPTH} levels", code="too_deep")


def _whole(digits: str) -> int:
    if len(digits.lstrip("-")) > MAX_DIGITS:
        raise _BadNumberError(f"expected whole numbers of at most {MAX_DIGITS} digits, got {len(digits)}")
    return int(digits)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise _BadNumberError("expected numbers that a double can hold")
    return number


def _no_constant(name: str) -> NoReturn:
    raise _BadNumberError(f"expected JSON, got {name}, which is no JSON number")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _DoubledKeyError("expected each key of an object once")
    return found


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    names = {list: "a list", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
    return names[type(value)]
